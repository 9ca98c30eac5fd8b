"""Which signing secrets are known here, and which are read of a keyring that may ask for each."""

from types import SimpleNamespace
from typing import Any

import pytest

from svc.cli.events import secrets
from svc.cli.events.secrets import endpoint_of_log, find_known_elsewhere, load_secrets
from svc.errors import UsageError
from svc.listen.endpoints import RegisteredEndpoint

PLACE = ("https://api.example.com", "default", "test")


def session_with(
    monkeypatch: pytest.MonkeyPatch, known: list[RegisteredEndpoint], stored: Any
) -> Any:
    """A session whose state database has these endpoints."""
    monkeypatch.setattr("svc.cli.events.secrets.StoredSecrets", stored)
    monkeypatch.setattr("svc.cli.events.secrets.every_endpoint", lambda _: known)
    return SimpleNamespace(
        env={},
        paths=SimpleNamespace(has_state=True),
        state=lambda: None,
        settings=SimpleNamespace(
            address=SimpleNamespace(origin=PLACE[0]), profile=PLACE[1], mode=PLACE[2]
        ),
    )


def test_secrets_of_this_place_are_known_and_svcs_own_for_logs_where_they_count(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """R48: another origin's prove nothing; of several endpoints a person is to name one."""
    asked = {
        "we_1": "whsec_1",
        "we_2": None,
        "we_3": "",
        "we_4": None,
        endpoint_of_log("shop"): "whsec_own",
    }
    stored = SimpleNamespace(get=asked.get)
    known = [
        RegisteredEndpoint(*PLACE, "", ("order.paid",), "we_0", "whsec_0"),
        *(RegisteredEndpoint(*PLACE, "", ("a", "b"), name, None) for name in asked),
        RegisteredEndpoint(*PLACE[:2], "live", "", ("a",), "we_8", "whsec_8"),
        RegisteredEndpoint("https://b.example", *PLACE[1:], "", (), "we_9", "whsec_9"),
    ]
    session = session_with(monkeypatch, known, lambda *_: stored)
    assert load_secrets(session) == ["whsec_0", "whsec_1", "whsec_own"]
    assert load_secrets(session, of_logs=False) == ["whsec_0", "whsec_1"]
    with pytest.raises(UsageError) as caught:
        secrets.signing_secrets(session, None, piped=False)
    assert (caught.value.code, caught.value.param) == ("secret_missing", "--endpoint")
    shown = ["we_0 (order.paid)", *(f"we_{number} (2 event types)" for number in (1, 2, 3))]
    named = " or ".join(f"--endpoint {one}" for one in shown)
    assert caught.value.hint == f"Name one: {named}, or set SVC_WEBHOOK_SECRET"
    session.paths.has_state = False
    assert load_secrets(session) == []
    session.paths.has_state, session.settings.address = True, None
    assert load_secrets(session) == []


@pytest.mark.parametrize(("secret", "asked"), [("whsec_x", 4), (None, 1)])
def test_few_secrets_of_other_endpoints_are_read_and_none_behind_one_that_is_not_given(
    secret: str | None, asked: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """R38: four at the most; a keyring that hangs is not asked again."""
    known = [RegisteredEndpoint(*PLACE, "", (), f"we_{number}", None) for number in range(7)]
    elsewhere = RegisteredEndpoint("https://b.example", *PLACE[1:], "", (), "we_9", "whsec_9")
    read: list[str] = []

    class Stored:
        """As much of the keyring as is asked."""

        def __init__(self, *_: object) -> None: ...

        def get(self, name: str) -> str | None:
            read.append(name)
            return secret

    session = session_with(monkeypatch, [*known, elsewhere], Stored)
    found = find_known_elsewhere(session, "we_0")
    assert [one.secret for one in found] == ["whsec_9", *([secret] * 4 if secret else [])]
    assert read == [f"we_{number}" for number in range(1, asked + 1)]
