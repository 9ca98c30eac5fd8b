"""The memory of a listener that reads a long log; 1,000,000 events: benchmarks/bench_log.py flat."""

from pathlib import Path

import pytest

from support.team.log import connect, make_streams, publish, wait_for
from support.team.members import Member
from support.team.servers import servers

EVENTS = 16_000
STEP = EVENTS // 4
# What a listener may grow by in three quarters of the way; an event of it is 1 KB.
MEGABYTES = 8


def resident(member: Member) -> float:
    assert member.process is not None
    status = Path(f"/proc/{member.process.pid}/status").read_text()
    return int(status.split("VmRSS:")[1].split()[0]) / 1024


@pytest.mark.slow(seconds=13)
@pytest.mark.limit(300)
@pytest.mark.usefixtures("needed")
def test_memory_does_not_grow_with_what_was_read(tmp_path: Path) -> None:
    """A laptop that was away for long has much to read and as little memory as the others."""
    with servers(tmp_path / "log", sync="") as running:
        make_streams(running)
        with connect(running) as connection:
            for first in range(0, EVENTS, STEP):
                publish(connection, range(first, first + STEP), note="x" * 700)
        argv = ("events", "listen", "--from", running.url(), "--from-start", "all")
        member = Member(tmp_path / "a", argv)
        member.start()
        out = tmp_path / "a" / "out"
        read, found = 0, list[float]()
        try:
            wait_for(lambda: bool(member.ready), 30)
            with out.open("rb") as lines:
                for wanted in range(STEP, EVENTS + 1, STEP):

                    def there(wanted: int = wanted) -> bool:
                        nonlocal read
                        read += sum(line.startswith(b'{"record":"event"') for line in lines)
                        return read >= wanted

                    wait_for(there, 120)
                    found.append(resident(member))
        finally:
            member.kill()
    assert found[-1] - found[0] < MEGABYTES, found
