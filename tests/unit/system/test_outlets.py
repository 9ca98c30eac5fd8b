"""Where lines go that nobody may read: never waited for, and nothing is lost on the way."""

import os
import socket
from pathlib import Path

import pytest

from svc.system import loopback, outlets
from svc.system.loopback import claim, listens, read_max_sockets
from svc.system.outlets import is_file, open_outlet, write_whole


@pytest.mark.parametrize("kind", ["pipe", "socket"])
def test_a_reader_that_stops_is_not_waited_for(kind: str) -> None:
    """Zero bytes are taken then; others who have the same pipe still wait for it."""
    if kind == "pipe":
        reading, writing = os.pipe()
    else:
        reading, writing = (each.detach() for each in socket.socketpair())
    outlet = open_outlet(writing)
    assert outlet is not None
    assert os.get_blocking(writing)
    assert not os.get_inheritable(outlet.descriptor)
    taken = 0
    while some := outlet.write(bytes(100_000)):
        taken += some
    assert taken > 1000
    assert len(os.read(reading, 1000)) == 1000
    os.set_blocking(reading, False)
    while taken > 1000:
        taken -= len(os.read(reading, taken))
    assert outlet.write(b"on") == 2
    assert os.read(reading, 9) == b"on"
    outlet.close()
    with pytest.raises(OSError, match="Bad file"):
        os.fstat(outlet.descriptor)
    os.close(writing)
    os.close(reading)


def test_what_cannot_be_opened_again_is_written_to_directly(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A closed descriptor, and every system but Linux."""
    reading, writing = os.pipe()
    monkeypatch.setattr(outlets, "_IS_LINUX", False)
    assert open_outlet(writing) is None
    monkeypatch.undo()
    os.close(writing)
    assert open_outlet(writing) is None
    os.close(reading)


def test_all_is_written_however_little_is_taken_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """A pipe takes a part where its reader is slow."""
    taken: list[bytes] = []

    def write(_: int, data: memoryview) -> int:
        taken.append(bytes(data[:3]))
        return len(taken[-1])

    monkeypatch.setattr(os, "write", write)
    write_whole(1, b"01234567")
    assert taken == [b"012", b"345", b"67"]


def test_a_file_and_a_device_need_no_reader(tmp_path: Path) -> None:
    """A pipe, a socket and a terminal do."""
    reading, writing = os.pipe()
    master, terminal = os.openpty()
    pair = socket.socketpair()
    with (tmp_path / "file").open("wb") as file, Path(os.devnull).open("wb") as null:
        found = [is_file(one.fileno()) for one in (file, null)]
        found += [is_file(one) for one in (writing, terminal, pair[0].fileno())]
    assert found == [True, True, False, False, False]
    for handle in (reading, writing, master, terminal):
        os.close(handle)
    for end in pair:
        end.close()


def test_a_port_is_bound_alone_and_is_known_to_be_served(monkeypatch: pytest.MonkeyPatch) -> None:
    """At once after another program had it; Windows has an option of its own for alone."""
    with socket.socket() as server:
        claim(server)
        assert server.getsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR) == 1
        server.bind(("127.0.0.1", 0))
        port = server.getsockname()[1]
        assert not listens("127.0.0.1", port)
        server.listen()
        assert listens("127.0.0.1", port)
    with socket.socket() as other:
        monkeypatch.setattr(socket, "SO_EXCLUSIVEADDRUSE", socket.SO_KEEPALIVE, raising=False)
        claim(other)
        assert other.getsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE) == 1
        assert other.getsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR) == 0


@pytest.mark.parametrize(("limit", "most"), [(1024, 1024), (1, 1), (-1, 65536), (None, 65536)])
def test_how_many_sockets_there_may_be(
    monkeypatch: pytest.MonkeyPatch, limit: int | None, most: int
) -> None:
    """The soft limit; many where the system has none, or knows none."""

    class Resource:
        RLIMIT_NOFILE = 7

        def getrlimit(self, which: int) -> tuple[int | None, int]:
            return (limit if which == self.RLIMIT_NOFILE else 0), 4096

    def load(name: str) -> Resource:
        if limit is None:
            raise ImportError(name)
        return Resource()

    monkeypatch.setattr(loopback, "import_module", load)
    assert read_max_sockets() == most
