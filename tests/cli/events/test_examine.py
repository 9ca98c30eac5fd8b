"""`svc events examine` against handlers on real sockets: what it prints, writes and ends with."""

import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import ClassVar, Final

import pytest

from support.listening import SECRET, TargetServer
from support.running import Result, Sandbox, Svc
from support.serving import QuietHandler, free_port, serving
from svc.errors import SignatureError
from svc.listen.examine.rules import RULES
from svc.signature import verify

EXAMINE: Final = ("events", "examine", "--forward-to")


class NotingHandler(QuietHandler):
    """Notes each event in a file, once; refuses what is not signed with the secret of the tests."""

    notes: ClassVar[Path]
    secret: ClassVar[str]

    def post(self) -> None:
        body = self.body()
        try:
            given = self.headers.get_all("Svc-Signature") or []
            verify(body, given, [self.secret], int(time.time()))
        except SignatureError:
            self.answer(400)
            return
        event = json.loads(body)
        noted = self.notes / f"{event['type']} {event['id']}"
        noted.touch()
        self.answer(200)


@pytest.fixture
def handler(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """The address of a handler, whose notes are files in `notes`."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SVC_WEBHOOK_SECRET", SECRET)
    NotingHandler.notes = tmp_path / "notes"
    NotingHandler.notes.mkdir()
    NotingHandler.secret = SECRET
    with serving(NotingHandler) as url:
        yield f"{url}/webhooks"


def run(svc: Svc, target: str, *words: str, stdin: str = "") -> Result:
    return svc(*EXAMINE, target, "--settle", "0", *words, stdin=stdin)


@pytest.mark.effect_of("events examine", "--forward-to", "--check", "--report")
def test_prints_a_verdict_for_each_rule_and_writes_a_report(svc: Svc, handler: str) -> None:
    """The command of --check has neither key nor secret; the report is Markdown."""
    check = (
        "test -z \"$SVC_WEBHOOK_SECRET$SVC_API_KEY\" && ls notes | grep -c '^order.paid' || true"
    )
    words = ("--check", check, "--report", "r.md", "-o", "human")
    done = run(svc, handler, *words)
    assert (done.code, done.err) == (0, "")
    rows = [line.split("  ")[0] for line in done.out.splitlines() if line[0] != " "]
    assert rows.count("passed") == 12
    assert "unknown  wrong order        --check shows no other event than order.paid" in done.out
    assert done.out.endswith(f"12 passed, 1 unknown, 1 advice: {handler} with order.paid.\n")
    report = Path("r.md").read_text()
    assert report.startswith(f"# Webhook handler at `{handler}`\n\n`svc events examine` of svc ")
    assert "\n| handles an event once, however often it comes | passed | Taken with 200" in report
    assert "\n- **constant time**: Read the code" in report
    assert f"Each of {len(RULES)} rules is" in svc("events", "examine", "--help").out
    narrow = svc(*EXAMINE, handler, "-o", "human", env={"COLUMNS": "40"})
    assert max(map(len, narrow.out.splitlines()[:-1])) <= 40


def test_json_has_the_same_facts_and_rows_are_a_rule_each(svc: Svc, handler: str) -> None:
    """Without --check what it would tell is unknown, which is no pass and no failure."""
    data = svc.ok(*EXAMINE, handler, "-o", "json")
    counts = {name: data[name] for name in ("passed", "failed", "advice", "unknown")}
    assert counts == {"passed": 8, "failed": 0, "advice": 1, "unknown": 5}
    assert (data["object"], data["target"], data["type"]) == ("examination", handler, "order.paid")
    assert data["has_check"] is False
    assert [each["status"] for each in data["rules"]].count("unknown") == 5
    rows = run(svc, handler, "-o", "ndjson")
    assert [json.loads(line)["name"] for line in rows.out.splitlines()] == [
        each["name"] for each in data["rules"]
    ]
    assert run(svc, handler, "-o", "id").out.splitlines()[1] == "wrong signature"
    assert "5 rules need --check CMD" in run(svc, handler, "-o", "human").err


@pytest.mark.effect_of("events examine", "--type")
def test_counts_the_events_of_a_type(svc: Svc, handler: str) -> None:
    """A command that counts refunds tells nothing of orders."""
    check = ("--check", "ls notes | grep -c '^refund.succeeded' || true", "-o", "json")
    other = run(svc, handler, *check)
    assert other.code == 11
    [broken] = [each for each in other.json["rules"] if each["status"] == "failed"]
    assert broken["name"] == "valid event"
    assert "--check prints the same as before" in broken["detail"]
    assert "--type names another type" in broken["fix"]
    assert run(svc, handler, *check, "--type", "refund.succeeded").code == 0


@pytest.mark.effect_of("events examine", "--settle")
def test_waits_for_an_effect(svc: Svc, handler: str) -> None:
    begun = time.monotonic()
    done = svc(*EXAMINE, handler, "--check", "echo 1", "--settle", "0.2", "-o", "json")
    assert done.code == 11
    assert time.monotonic() - begun >= 0.4


@pytest.mark.effect_of("events examine", "--forward-timeout")
def test_waits_no_longer_for_an_answer(svc: Svc, handler: str) -> None:
    with TargetServer(lambda _: None) as silent:
        done = run(svc, str(silent.port), "--forward-timeout", "0.5", "-o", "human")
    assert done.code == 11
    assert "No answer to a valid order.paid: no answer in time." in done.out
    assert "Unknown until 'valid event' passes: wrong signature, " in done.out
    assert "The handler fails 1 of 14 rules: valid event." in done.err


@pytest.mark.effect_of("events examine", "--endpoint", "--secret-stdin")
def test_signs_with_the_secret_that_is_meant(
    svc: Svc, sandbox: Sandbox, handler: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The one on standard input; else that of the endpoint, which is named where there are two."""
    monkeypatch.delenv("SVC_WEBHOOK_SECRET")
    assert run(svc, handler, "--secret-stdin", stdin=f"{SECRET}\n").code == 0
    none = run(svc, handler)
    assert none.error["code"] == "secret_missing"
    assert "--secret-stdin < SECRET" in run(svc, handler, "-o", "human").err
    listen = ("events", "listen", "--print-secret", "-o", "json", "--events")
    first, second = (svc.ok(*listen, kind) for kind in ("order.paid", "refund.failed"))
    several = run(svc, handler)
    assert (several.code, several.error["param"]) == (2, "--endpoint")
    NotingHandler.secret = first["secrets"][0]
    assert run(svc, handler, "--endpoint", first["endpoint"]).code == 0
    other = run(svc, handler, "--endpoint", second["endpoint"], "-o", "human")
    assert other.code == 11
    told = " ".join(other.out.split())
    assert f"the one that signs here, whsec_…{second['secrets'][0][-4:]}?" in told
    unknown = run(svc, handler, "--endpoint", "we_none")
    assert unknown.error["code"] == "secret_missing"


@pytest.mark.effect_of("events examine", "--allow-remote-forward")
def test_examines_a_handler_elsewhere_only_if_told_to(svc: Svc, handler: str) -> None:
    """An address that is this machine's in a way that need not be."""
    mapped = handler.replace("127.0.0.1", "[::ffff:127.0.0.1]")
    refused = run(svc, mapped)
    assert (refused.code, refused.out) == (2, "")
    assert "is not on this machine" in refused.error["message"]
    assert run(svc, mapped, "--allow-remote-forward").code == 0


def test_a_handler_that_is_away_is_one_line(svc: Svc, handler: str) -> None:
    done = run(svc, str(free_port()), "-o", "human")
    assert (done.code, done.out) == (11, "")
    assert "The handler cannot be reached: " in done.err
    assert len(done.err.splitlines()) == 2


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (("--check", "exit 3"), 2, "check_command_failed"),
        (("--check", "yes | head -c 2000000"), 2, "check_command_failed"),
        (("--report", "none/r.md"), 10, "local_error"),
    ],
)
def test_a_command_line_that_cannot_be_is_refused(
    svc: Svc, handler: str, words: tuple[str, ...], code: int, said: str
) -> None:
    done = run(svc, handler, *words)
    assert done.code == code, done.err
    assert said in (done.error["code"], done.error["type"])
