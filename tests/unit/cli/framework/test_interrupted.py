"""A signal at any place of a command that sends: what it says of the money is true (R78, R10)."""

import io
import json
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from support.calls import refunds
from support.kills.interrupting import closed_at_the_end, sigterm_at
from svc.cli.framework.session import Session
from svc.cli.framework.streams import Streams
from svc.cli.main import run
from svc.client.client import Client
from svc.client.exchange import RawReply, WireRequest
from svc.clock import SystemClock
from svc.delivery.journal.entry import Intent, NewIntent, Settled, store_call
from svc.delivery.journal.journal import Journal
from svc.delivery.journal.sender_locks import SenderLocks
from svc.state import Database
from svc.system import signals

KEY = "sk_test_canary7Qx2Lw9Zp4"
BODY = {"payment": "pay_1", "amount": 4999}
CREATE = ("refunds", "create", "--payment", "pay_1", "--amount", "4999", "-o", "json")
NEAR = (
    "delivery/journal/journal",
    "state/database",
    *(f"delivery/{name}.py" for name in ("send", "ending")),
)
FAR = ("client/", "state/", "system/", "cli/main", "cli/framework/sending", "cli/framework/errors")


class KeyedService:
    """Makes a refund for each key, without a network."""

    def __init__(self) -> None:
        self.made: dict[str, str] = {}
        self.asked = 0

    def exchange(self, request: WireRequest, **_: object) -> RawReply:
        key = dict(request.headers)["Idempotency-Key"]
        signals.raise_if_stopped()  # as a connection does before it sends, and while it waits
        made = self.made.setdefault(key, f"rf_{len(self.made) + 1}")
        self.asked += 1
        signals.raise_if_stopped()
        refund = {"id": made, "object": "refund", "livemode": False, "currency": "EUR"}
        return RawReply(200, (), json.dumps({**refund, **json.loads(request.body)}).encode())

    def close(self) -> None:
        pass


class Short(Session):
    """A session whose client is on that service."""

    service: Any

    def client(self, **_: Any) -> Client:
        more = {"clock": self.clock, "wire": self.service, "on_reply": self.note_reply}
        return Client(self.base_url, KEY, mode="test", **more)


class InterruptedRun(NamedTuple):
    """A run: its exit code, its words, and whether it was interrupted."""

    code: int
    out: str
    err: str
    came: bool

    @property
    def error(self) -> dict[str, Any]:
        """What it says on stderr: one error, or nothing."""
        return json.loads(self.err)["error"] if self.err.strip() else {}


class CommandMachine:
    """A state folder, the service, and commands that are run on them."""

    def __init__(self, folder: Path, *argv: str) -> None:
        self.service = KeyedService()
        self.argv = argv
        self._state = folder / "state"
        self._env = {"SVC_API_KEY": KEY, "SVC_BASE_URL": "https://api.example.com"}
        for name in ("CONFIG", "STATE", "CACHE"):
            self._env[f"SVC_{name}_DIR"] = str(folder / name.lower())
        if not argv:
            self.argv = ("requests", "resume", self._left_unknown(), "-o", "json")

    def run(self, *argv: str, place: int = 0, rooms: tuple[str, ...] = ()) -> InterruptedRun:
        streams = Streams(io.StringIO(), io.StringIO(), io.StringIO())
        session = Short(argv, self._env, streams)
        session.service = self.service
        with session, sigterm_at(place, *rooms) as interruption:
            code = int(run(session))
        assert interruption.raised is None
        out, err = streams.stdout, streams.stderr
        assert isinstance(out, io.StringIO)
        assert isinstance(err, io.StringIO)
        return InterruptedRun(code, out.getvalue(), err.getvalue(), interruption.came)

    @property
    def requests(self) -> list[Intent]:
        """What the journal tells the next process."""
        if not (self._state / "state.db").exists():
            return []
        with self._journal() as journal:
            found = journal.list()
            for each in found:
                journal.release(each)  # as the end of the process would, whatever was left open
            return found

    def _left_unknown(self) -> str:
        session = Short(("refunds",), self._env, Streams.of_process())
        session.service = self.service
        call, scope = refunds.create(BODY), session.scope(session.key.fingerprint)
        with self._journal() as journal:
            stored = store_call(call, session.client().prepare(call))
            first = journal.record(NewIntent(stored, scope))
            journal.settle(first, Settled("unknown"))
        return first.id

    @contextmanager
    def _journal(self) -> Iterator[Journal]:
        clock = SystemClock()
        with Database.open(self._state / "state.db", clock=clock) as state:
            yield Journal(lambda: state, SenderLocks(self._state / "senders"), clock)


def judge(machine: CommandMachine, ended: InterruptedRun) -> None:
    """What is said and kept, against what the service has made."""
    kept, made = machine.requests, machine.service.made
    assert len(kept) <= 1
    assert set(made) <= {each.stored.idempotency_key for each in kept}
    for each in kept:
        if each.state == "done":
            assert each.settled is not None
            assert made[each.stored.idempotency_key] == each.settled.object_id
        assert each.is_unresolved or (each.state == "done") == bool(made)
    if not ended.came:
        assert (ended.code, ended.err) == (0, "")
        return
    assert ended.code == 143
    assert ended.error.get("code", "stopped") == "stopped"
    assert ended.error.get("request") in (None, *(each.id for each in kept))
    assert is_true(machine, ended, unresolved=any(each.is_unresolved for each in kept))


def is_true(machine: CommandMachine, ended: InterruptedRun, *, unresolved: bool) -> bool:
    """What was said of the request."""
    made = machine.service.made.values()
    match ended.error.get("outcome"):
        case "unknown":
            return unresolved
        case "done":
            return not unresolved and any(each in ended.error["message"] for each in made)
        case "not_sent":
            return not machine.service.asked and not unresolved
    if unresolved:
        return machine.argv[0] == "requests"  # whoever resumes one knows of it
    return not made or bool(ended.out)


def settle(machine: CommandMachine) -> None:
    """Does what is advised, or the same once more: there is one object, and it is known."""
    unresolved = [each.id for each in machine.requests if each.is_unresolved]
    if unresolved or not machine.service.made:
        again = ("requests", "resume", *unresolved, "-o", "json") if unresolved else machine.argv
        assert machine.run(*again).code == 0
    states = [each.state for each in machine.requests]
    assert states.count("done") == 1
    assert set(states) <= {"done", "not_sent"}
    assert len(machine.service.made) == 1


@pytest.mark.parametrize(
    "argv",
    [
        pytest.param(CREATE, id="new"),
        pytest.param((*CREATE, "--idempotency-key", "own-1"), id="own_key"),
        pytest.param((), id="resumed"),
    ],
)
@pytest.mark.parametrize(
    ("rooms", "stride"),
    [(NEAR, 151), pytest.param((*NEAR, *FAR), 71, marks=pytest.mark.slow(seconds=30))],
    ids=["near", "all"],
)
def test_a_signal_at_any_place_leaves_the_truth(
    tmp_path: Path, rooms: tuple[str, ...], stride: int, argv: tuple[str, ...]
) -> None:
    """R78, R133: nothing is lost, doubled or misreported, and what is advised ends it."""
    whole = CommandMachine(tmp_path / "whole", *argv)  # what is imported now is not interrupted
    whole.run(*whole.argv)
    with closed_at_the_end():
        for place in count(1, stride):
            machine = CommandMachine(tmp_path / str(place), *argv)
            ended = machine.run(*machine.argv, place=place, rooms=rooms)
            judge(machine, ended)
            settle(machine)
            if not ended.came:
                break
    assert place > 100
