"""The parts of a quickstart: its story without processes, and what it does with processes."""

import json
import os
import re
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from http.client import HTTPConnection
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from urllib.parse import urlsplit

import pytest

from support.clocks import ManualClock
from support.running import inside
from svc.cli import quickstart
from svc.cli.quickstart import SvcProcesses, environment, hold_folder
from svc.clock import SystemClock
from svc.errors import CheckFailed, LocalError

ORDER, PAYMENT, REFUND, EVENT = "ord_1", "pay_1", "rf_1", "evt_1"
CREATED = (
    "orders create --amount 12900 --currency EUR --country DE --postal-code 10115 "
    "--item 'name=Linen jacket,hs_code=6203.39,quantity=1,unit_amount=12900'"
)
RESULT = {
    "object": "quickstart",
    "order": ORDER,
    "payment": PAYMENT,
    "event": EVENT,
    "verified": True,
    "forwarded": True,
    "refund": REFUND,
}
TOLD = f"""
1  A sandbox: the whole service in one process
   $ svc sandbox start --detach
     http://127.0.0.1:4242

2  Webhooks, verified and forwarded to a local address
   $ svc events listen --forward-to TARGET
     ready

3  An order to Germany
   $ svc {CREATED}
     {ORDER}  157.08 EUR to pay, with duty and VAT

4  The shopper pays with a test card
   $ svc sandbox pay {ORDER}
     {PAYMENT}  captured

5  The webhook arrives
     order.paid  {EVENT}  verified

6  A partial refund
   $ svc refunds create --payment {PAYMENT} --amount 4999
     {REFUND}  pending, 49.99 EUR

Done in 0.0 s: paid, verified, forwarded and refunded.
Next: svc sandbox start --detach
Then: svc orders create --help
"""


class Played:
    """Stands in for the processes: what each was started with, and what a service would do."""

    def __init__(self, *, verified: bool = True, forwards: bool = True) -> None:
        self.argv: list[str] = []
        self.target = ""
        self._verified, self._forwards = verified, forwards

    @contextmanager
    def beside(self, *argv: str, log: Path) -> Iterator[Any]:
        self.argv.append(" ".join(argv).replace(str(log.parent), "HOME"))
        if argv[0] == "events":
            self.target = argv[argv.index("--forward-to") + 1]
            told: dict[str, Any] = {"id": EVENT, "verified": self._verified}
            log.write_text(f"not JSON\n{json.dumps({**told, 'id': 'evt_0'})}\n{json.dumps(told)}\n")
        yield argv[0]

    def wait_for(self, path: Path, process: Any, log: Path, seconds: float) -> str:
        assert (path.parent, seconds) == (log.parent, 60.0)
        self.argv.append(f"{process}: {path.name}, {log.name}")
        return "http://127.0.0.1:4242\n"

    def run(self, *argv: str) -> Any:
        self.argv.append(" ".join(argv))
        if argv[1] == "pay" and self._forwards:
            for kind, order in (("order.paid", "ord_0"), ("x", ORDER), ("order.paid", ORDER)):
                self._forward({"id": EVENT, "type": kind, "data": {"object": {"id": order}}})
        payment = {"payment": {"id": PAYMENT, "status": "captured"}}
        return {
            "orders": {"id": ORDER, "amount_total": 15708, "currency": "EUR"},
            "sandbox": payment,
            "refunds": {"id": REFUND, "status": "pending", "amount": 4999, "currency": "EUR"},
        }[argv[0]]

    def _forward(self, event: Any) -> None:
        there = urlsplit(self.target)
        connection = HTTPConnection(there.netloc, timeout=30)
        connection.request("POST", there.path, json.dumps(event))
        assert connection.getresponse().status == 200
        connection.close()


def play(monkeypatch: pytest.MonkeyPatch, *argv: str, **how: bool) -> tuple[Any, Played]:
    """Runs a quickstart whose processes are played; gives what came of it, and what it started."""
    played = Played(**how)
    monkeypatch.setattr(quickstart, "SvcProcesses", lambda *_: played)
    return inside("quickstart", *argv), played


def story(told: str, played: Played) -> str:
    """What was told, without what is another number each time."""
    return re.sub(
        r"Done in [0-9]+\.[0-9] s", "Done in 0.0 s", told.replace(played.target, "TARGET")
    )


def test_each_step_tells_what_it_does_and_what_came_of_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """To people on stdout, else on stderr beside a result, and not at all with --quiet."""
    ended, played = play(monkeypatch, "-o", "human")
    assert (ended.code, ended.err) == (0, "")
    assert story(ended.out, played) == TOLD
    assert urlsplit(played.target).path == "/webhooks"
    assert played.argv == [
        "sandbox start --port 0 --db HOME/sandbox.db --ready-file HOME/sandbox.url",
        "sandbox: sandbox.url, sandbox.log",
        f"events listen --forward-to {played.target} --ready-file HOME/listen.ready -o ndjson",
        "events: listen.ready, listen.ndjson",
        CREATED.replace("'", ""),
        f"sandbox pay {ORDER}",
        f"refunds create --payment {PAYMENT} --amount 4999",
    ]
    ended, played = play(monkeypatch, "-o", "json")
    assert story(ended.err, played) == TOLD
    seconds = ended.json["seconds"]
    assert ended.json == {**RESULT, "seconds": round(seconds, 1)}
    ended, _ = play(monkeypatch, "-o", "json", "--quiet")
    assert (ended.err, ended.json["refund"]) == ("", REFUND)


def test_story_ends_where_its_webhook_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    """Unverified, or not there within a minute: exit code 11, and no refund."""
    waited: list[float] = []
    unverified, played = play(monkeypatch, "-o", "human", verified=False)
    assert unverified.code == 11
    assert f"     order.paid  {EVENT}  NOT VERIFIED\n" in unverified.out
    assert "The webhook arrived but was not verified." in unverified.err
    assert not any("refunds" in each for each in played.argv)
    monkeypatch.setattr("svc.system.signals.wait", lambda _, seconds: waited.append(seconds))
    absent, _ = play(monkeypatch, "-o", "human", forwards=False)
    assert absent.code == 11
    assert "order.paid did not arrive within 60 s." in absent.err
    assert waited == [pytest.approx(60, abs=30)]


def test_processes_of_a_quickstart_have_folders_of_their_own(tmp_path: Path) -> None:
    """And nothing of what the user has set for svc."""
    given = {"PATH": "/bin", "SVC_API_KEY": "sk_live_x", "SVC_STATE_DIR": "/mine"}
    folders = {
        f"SVC_{name.upper()}_DIR": str(tmp_path / name) for name in ("config", "state", "cache")
    }
    assert environment(given, tmp_path) == {"PATH": "/bin", **folders}


def test_folder_is_removed_and_so_is_one_that_was_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And no other one: what is in use, or is no folder of a quickstart, stays."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    left, other = tmp_path / "svc-quickstart-left", tmp_path / "svc-other"
    for each in (left, other):
        each.mkdir()
    (tmp_path / "svc-quickstart-link").symlink_to(other)
    with hold_folder() as one:
        assert not left.exists()
        with hold_folder() as two:
            assert one.is_dir()
            assert two.is_dir()
            assert two.stat().st_mode & 0o777 == 0o700
        assert one.is_dir()
    assert sorted(each.name for each in tmp_path.iterdir()) == ["svc-other", "svc-quickstart-link"]


def python(monkeypatch: pytest.MonkeyPatch, code: str) -> SvcProcesses:
    """Processes of another program: this code, with what it was told behind."""
    made = [sys.executable, "-c", code]
    monkeypatch.setattr(quickstart, "build_own_command", lambda _, env: (made, env))
    return SvcProcesses(os.environ, SystemClock())


def test_a_command_gives_its_result_or_its_own_words(monkeypatch: pytest.MonkeyPatch) -> None:
    said = r"sys.stderr.buffer.write(b' no room \xf0\x9f\n')"
    code = f"import sys, json; {said}; print(json.dumps(sys.argv[1:])); sys.exit('bad' in sys.argv)"
    run = python(monkeypatch, code).run
    assert run("orders", "list") == ["orders", "list", "-o", "json"]
    with pytest.raises(CheckFailed, match=r"^svc orders bad ended with 1: no room \ufffd$"):
        run("orders", "bad")


def test_a_process_beside_is_ended_with_its_block(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By a signal, or killed where it ignores that; what it says is in its log."""
    monkeypatch.setattr(quickstart, "_SECONDS_TO_END", 0.05)
    hold = "import signal, sys; 'deaf' in sys.argv and signal.signal(15, signal.SIG_IGN)"
    wait = "open(sys.argv[2], 'w').write('up'); print('heard', file=sys.stderr); signal.pause()"
    parts = python(monkeypatch, f"{hold}; {wait}")
    for word, number in (("polite", signal.SIGTERM), ("deaf", signal.SIGKILL)):
        log, ready = tmp_path / f"{word}.log", tmp_path / word
        with parts.beside(word, str(ready), log=log) as process:
            while not ready.exists() or not ready.read_text():
                assert process.poll() is None, log.read_text()
            assert parts.wait_for(ready, process, log, 60) == "up"
        assert process.returncode == -number


def test_what_a_part_said_when_it_ended_is_told(tmp_path: Path) -> None:
    """Not that it took too long, which it did not; one that lives on has so many seconds."""
    log = tmp_path / "log"
    parts = SvcProcesses({}, SystemClock())
    with log.open("wb") as out:
        said = r"sys.stdout.buffer.write(b'no room \xf0\x9f\n')"  # cut off within a character
        argv = [sys.executable, "-c", f"import sys; {said}; sys.exit(3)"]
        process = subprocess.Popen(argv, stdout=out)
    with pytest.raises(LocalError, match=r"ended with 3 after \d+\.\d s: no room \ufffd"):
        parts.wait_for(tmp_path / "never", process, log, 30)
    clock, living = ManualClock(), SimpleNamespace(poll=lambda: None, returncode=None)
    log.write_text("")
    late: Any = (tmp_path / "never", living, log, 30)
    with pytest.raises(LocalError, match=r"did not start within 30 s: it said nothing\.$"):
        SvcProcesses({}, clock).wait_for(*late)
    assert sum(clock.slept) == pytest.approx(30, abs=0.05)
