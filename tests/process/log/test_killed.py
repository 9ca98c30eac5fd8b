"""Members of a team that are killed at the one moment that matters, and started again."""

from pathlib import Path

import pytest

from support.listening import Received, TargetServer
from support.team.log import connect, publish, wait_for
from support.team.members import SOUND, EventSender, Member
from support.team.servers import Servers
from svc.listen.log.streams import stream_info

_DIE = """
import os, signal
def die(*_):
    os.kill(os.getpid(), signal.SIGKILL)
"""
AFTER_THE_LOG_HAS_IT = """
from svc.listen.log.inboxes import LogInbox
publish = LogInbox.store
LogInbox.store = lambda self, batch: (publish(self, batch), die())
"""
BEFORE_IT_IS_KEPT = """
from svc.listen.inbox.sqlite import QuickInbox
from svc.listen.inbox.sqlite import SqliteInbox
QuickInbox.store_at_once = lambda self, batch: None
QuickInbox.store = SqliteInbox.store = lambda self, batch: die()
"""
AFTER_IT_IS_KEPT = """
from svc.listen.inbox.sqlite import QuickInbox
from svc.listen.inbox.sqlite import SqliteInbox
keep = SqliteInbox.store
QuickInbox.store_at_once = lambda self, batch: None
QuickInbox.store = SqliteInbox.store = lambda self, batch: (keep(self, batch), die())
"""
AFTER_THE_TARGET_HAS_IT = """
from svc.listen.forward.pump import Pump
Pump._handle_reply  # else nobody would die of it
Pump._handle_reply = die
"""
BEFORE_THE_LOG_HEARS_OF_IT = """
from svc.listen.log.group import GroupSource
async def acknowledge(self, receipt):
    die()
GroupSource._acknowledge = acknowledge
"""


def dying(moment: str) -> str:
    return _DIE + moment + SOUND


def count(server: Servers) -> int:
    with connect(server) as connection:
        return int(connection.run(stream_info(connection, "test"))["state"]["messages"])


def marks(received: list[Received]) -> list[bytes]:
    return [mark for one in received for mark in one.header("svc-redelivered")]


def until_dead(member: Member) -> None:
    assert member.process is not None
    wait_for(lambda: member.process is not None and member.process.poll() is not None)
    assert member.process.returncode == -9, member.errors


def again(member: Member) -> None:
    """Starts it again, whole."""
    member.code = SOUND
    member.start()


@pytest.mark.slow(seconds=5)
def test_receiver_killed_between_log_and_answer(server: Servers, tmp_path: Path) -> None:
    """R50: the sender heard nothing and comes again: one event, and its copy is a duplicate."""
    argv = ("events", "receive", "--to", server.url(), "--tunnel", "none")
    receiver = Member(tmp_path / "receiver", argv, dying(AFTER_THE_LOG_HAS_IT))
    receiver.start()
    wait_for(lambda: bool(receiver.ready))
    sender = EventSender(lambda: receiver.door)
    try:
        sender.try_once(0)
        until_dead(receiver)
        assert count(server) == 1
        again(receiver)
        wait_for(lambda: len(receiver.ready) == 2)
        sender.deliver(0)
        wait_for(lambda: len(receiver.told("event")) == 1)
    finally:
        receiver.kill()
    assert count(server) == 1
    assert [one["duplicate"] for one in receiver.told("event")] == [True]


@pytest.mark.slow(seconds=5)
@pytest.mark.parametrize(
    ("moment", "times", "marked"),
    [
        (BEFORE_IT_IS_KEPT, 1, []),
        (AFTER_IT_IS_KEPT, 1, [b"1"]),
        (AFTER_THE_TARGET_HAS_IT, 2, [b"1"]),
    ],
)
def test_listener_killed_at_a_seam(
    moment: str, times: int, marked: list[bytes], server: Servers, tmp_path: Path
) -> None:
    """R50: what was not kept is read again; what may have been sent before says so."""
    argv = ("events", "listen", "--from", server.url(), "--from-start", "all", "--name", "anna")
    with connect(server) as connection, TargetServer() as target:
        publish(connection, [0])
        listener = Member(tmp_path / "a", (*argv, "--forward-to", str(target.port)), dying(moment))
        listener.start()
        try:
            until_dead(listener)
            publish(connection, [1])
            again(listener)
            wait_for(lambda: len(target.received) == times + 1)
            code = listener.end()
        finally:
            listener.kill()
    assert code == 143
    assert sorted(target.ids) == sorted(["evt_0"] * times + ["evt_1"])
    assert marks([one for one in target.received if b'"evt_0"' in one.body]) == marked
    assert not marks([one for one in target.received if b'"evt_1"' in one.body])


@pytest.mark.slow(seconds=40)
@pytest.mark.limit(120)
def test_job_killed_between_target_and_log(server: Servers, tmp_path: Path) -> None:
    """R50: the other job gets the event when its lease has ended, and the target is told so."""
    listen = ("events", "listen", "--from", server.url(), "--from-start", "all", "--group", "ci")
    with connect(server) as connection, TargetServer() as target:
        publish(connection, [0])
        argv = (*listen, "--forward-to", str(target.port))
        dies = Member(tmp_path / "one", argv, dying(BEFORE_THE_LOG_HEARS_OF_IT))
        lives = Member(tmp_path / "two", argv)
        try:
            dies.start()
            until_dead(dies)
            assert target.ids == ["evt_0"]
            lives.start()
            wait_for(lambda: len(target.received) == 2, 60)
        finally:
            lives.kill()
    assert target.ids == ["evt_0", "evt_0"]
    assert marks(target.received) == [b"1"]
