"""What typed options become, at their limits, and what the parts of a listener take."""

import io
from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from support.clocks import ManualClock
from svc.cli import events
from svc.cli.events.options import InspectAt, body_size, command_again, content_filter
from svc.cli.events.team import choose_name, delivery_policy, size_of, starts_at
from svc.cli.events.verify import time_of
from svc.cli.framework.session import Session
from svc.cli.framework.streams import Streams
from svc.errors import UsageError


@pytest.fixture
def session() -> Iterator[Session]:
    streams = Streams(io.StringIO(), io.StringIO(), io.StringIO())
    with Session((), {}, streams, ManualClock()) as session:
        yield session


def test_the_command_to_repeat_leads_to_the_same_endpoint() -> None:
    """With whatever chose it, and nothing else."""
    everywhere = SimpleNamespace(profile="shop", base_url="https://a.example", live=True)
    session: Any = SimpleNamespace(given=SimpleNamespace(everywhere=everywhere))
    more = ("ngrok", "https://x.example", "nats://127.0.0.1/shop")
    assert command_again(session, ["a", "b"], *more) == (
        "svc events listen --from nats://127.0.0.1/shop --profile shop --base-url"
        " https://a.example --live --events a --events b --tunnel ngrok --public-url"
        " https://x.example"
    )
    vars(everywhere).update(profile=None, base_url=None, live=False)
    assert command_again(session, [], "auto", None) == "svc events listen"


def test_sizes_are_read_in_their_units() -> None:
    """Those of a body up to what is ever verified, those of a log in large units alone."""
    bodies = {"1": 1, "7B": 7, "3KiB": 3 << 10, "1MiB": 1 << 20, "1048576": 1 << 20}
    assert {text: body_size(text) for text in bodies} == bodies
    stores = {"1MiB": 1 << 20, "512MiB": 512 << 20, "10GiB": 10 << 30}
    assert {text: size_of(text, "--max-bytes") for text in stores} == stores
    for text in ("0MiB", "MiB", "1KiB", "-1GiB", "\u0661GiB"):
        with pytest.raises(UsageError):
            size_of(text, "--max-bytes")
    assert [InspectAt.parse(text) for text in ("0", "65535")] == [InspectAt(0), InspectAt(65535)]


def test_words_are_found_in_a_body_as_a_person_reads_it() -> None:
    """Without the escapes of JSON, in any case; also in what is no JSON and no text."""
    for body in (b'{"name": "Caf\\u00e9 Nord"}', b"caf\xc3\xa9 nord \xff"):
        for words, there in (("CAF\u00c9", True), ("s\u00fcd", False)):
            meets = content_filter(None, words, None)
            assert meets is not None
            assert meets(body) is there
    assert content_filter(None, None, None) is None


@pytest.mark.parametrize(
    ("text", "back", "policy"),
    [
        ("all", None, {"deliver_policy": "all"}),
        ("now", 0.0, {"deliver_policy": "new"}),
        ("2999-01-01", 0.0, {"deliver_policy": "new"}),
        (
            "2h",
            7200.0,
            {"deliver_policy": "by_start_time", "opt_start_time": "2023-11-14T20:13:20+00:00"},
        ),
    ],
)
def test_a_group_begins_where_it_is_told_to(
    session: Session,
    monkeypatch: pytest.MonkeyPatch,
    text: str,
    back: float | None,
    policy: dict[str, str],
) -> None:
    """As the servers take it, by this machine's clock; what is still to come begins now."""
    monkeypatch.setattr("svc.cli.framework.control.sandbox_clock", lambda _: 0.0)
    assert starts_at(session, text, "--from") == back
    assert delivery_policy(session, back) == policy


def test_a_signature_is_looked_at_by_this_machines_clock(
    session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Now, at a time that is typed, or so many seconds after 1970."""
    monkeypatch.setattr("svc.cli.framework.control.sandbox_clock", lambda _: 0.0)
    now = session.clock.now()
    texts = {None: now, "2h": now - 7200, "0": 0.0, "253402300499": 253402300499.0}
    assert {text: time_of(session, text, "--now") for text in texts} == texts
    for text in ("253402300500", "1969-12-31"):
        with pytest.raises(UsageError):
            time_of(session, text, "--now")


def test_a_reader_has_the_name_that_is_given_or_its_users_or_its_hosts(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Fit for a subject, and never none."""

    def name(given: str | None, user: str | None, host: str) -> str:
        monkeypatch.setattr("socket.gethostname", lambda: host)
        log: Any = SimpleNamespace(name=given)
        credentials = SimpleNamespace(user=user, label=f"{user}-1")
        return choose_name(log, SimpleNamespace(credentials=credentials))  # type: ignore[arg-type]

    assert name("mine", "anna", "host") == "mine"
    assert name(None, "anna", "host") == "anna-1"
    assert name(None, None, "my_host-1.lan") == "my_host-1-lan"
    assert name(None, None, "h" * 40) == "h" * 32
    assert name(None, None, "") == "laptop"


def test_what_a_part_keeps_to_itself_is_nobodys_to_pass() -> None:
    """A name with an underscore is no parameter."""
    folder = Path(events.__file__).parent
    names = (each.relative_to(folder).with_suffix("").parts for each in folder.rglob("*.py"))
    modules = [import_module(".".join((events.__name__, *each))) for each in names]
    parts = {one for each in modules for one in vars(each).values() if is_dataclass(one)}
    kept = {(one, each.init) for one in parts for each in fields(one) if each.name[0] == "_"}
    assert len(kept) > 2
    assert {init for _, init in kept} == {False}
