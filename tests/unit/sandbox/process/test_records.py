"""Run records: who runs, and who does not any more; and the socket of a sandbox."""

import json
import os
import socket
from pathlib import Path

import pytest

from support.serving import free_port
from svc.errors import LocalError
from svc.sandbox.process.records import RunRecord, hold, is_running, list_running, listen_on


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Where run records and logs go."""
    return tmp_path / "sandbox"


def record(port: int = 4242, pid: int | None = None) -> RunRecord:
    """A record of this process unless told otherwise."""
    return RunRecord(
        pid=os.getpid() if pid is None else pid,
        port=port,
        url=f"http://127.0.0.1:{port}",
        db=":memory:",
        started="2026-10-01T09:00:00.000000Z",
        log="/tmp/log",
    )


def test_held_record_is_running_until_its_block_ends(folder: Path) -> None:
    """A record is found while it is held, and its file is gone afterwards."""
    with hold(folder, record()):
        assert list_running(folder) == [record()]
        assert is_running(folder, record())
    assert list_running(folder) == []
    assert list(folder.iterdir()) == []


def test_record_is_for_its_owner_only(folder: Path) -> None:
    """R67: the folder, those made above it, and the record are private, whatever the umask."""
    below = folder / "state" / "sandbox"
    before = os.umask(0)
    try:
        with hold(below, record()):
            assert {each.stat().st_mode & 0o777 for each in (folder, *folder.glob("**/"))} == {
                0o700
            }
            assert (below / "run-4242.json").stat().st_mode & 0o777 == 0o600
    finally:
        os.umask(before)


def test_record_of_a_dead_process_is_stale(folder: Path) -> None:
    """A record that nobody holds is no running sandbox, though its pid is somebody's."""
    folder.mkdir()
    path = folder / "run-4242.json"
    path.write_text(json.dumps(record(pid=os.getpid())._asdict()))
    assert list_running(folder) == []
    assert not path.exists()


def test_what_a_newer_svc_notes_beside_is_left_out(folder: Path) -> None:
    with hold(folder, record()):
        newer = {**record()._asdict(), "newer": 1}
        (folder / "run-4242.json").write_text(json.dumps(newer))
        assert list_running(folder) == [record()]


def test_stale_record_is_replaced(folder: Path) -> None:
    """A new sandbox on the port of one that died takes its record over."""
    folder.mkdir()
    (folder / "run-4242.json").write_text("x" * 5000)
    with hold(folder, record()):
        assert list_running(folder) == [record()]


def test_records_come_by_port(folder: Path) -> None:
    """Several sandboxes are listed in the order of their ports."""
    with hold(folder, record(5001)), hold(folder, record(80)):
        assert [each.port for each in list_running(folder)] == [80, 5001]


def test_other_process_on_the_same_port_is_another_sandbox(folder: Path) -> None:
    """A record found earlier is not running when another process has its port now."""
    with hold(folder, record()):
        assert not is_running(folder, record(pid=os.getpid() + 1))


def test_record_that_is_a_link_is_not_followed(folder: Path, tmp_path: Path) -> None:
    """R65: a symbolic link in the place of a record is neither read nor written through."""
    folder.mkdir()
    target = tmp_path / "precious"
    target.write_text("keep")
    (folder / "run-4242.json").symlink_to(target)
    assert list_running(folder) == []
    with pytest.raises(LocalError), hold(folder, record()):
        pass
    assert target.read_text() == "keep"


def test_folder_that_cannot_be_made_is_one_line(tmp_path: Path) -> None:
    """A state folder in the place of a file is a local error that names the record."""
    (tmp_path / "file").write_text("")
    refused = pytest.raises(LocalError, match=r"run-4242\.json cannot be written")
    with refused, hold(tmp_path / "file", record()):
        pass


def test_no_folder_means_nothing_runs(tmp_path: Path) -> None:
    """Nothing was ever started here."""
    assert list_running(tmp_path / "nowhere") == []


# --- the socket -------------------------------------------------------------------------------


def test_listen_on_binds_loopback_only() -> None:
    """R89: the socket is on 127.0.0.1 and sends small answers at once."""
    with listen_on(0)[0] as sock:
        host, port = sock.getsockname()
        assert host == "127.0.0.1"
        assert port > 0
        with socket.create_connection((host, port)) as client:
            server_side, _ = sock.accept()
            with server_side:
                assert server_side.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)
                assert client.getpeername() == (host, port)


@pytest.mark.parametrize(
    ("bind", "where"),
    [
        ("127.0.0.2", ["127.0.0.1", "127.0.0.2"]),
        ("0.0.0.0", ["0.0.0.0"]),
        ("::", ["::"]),
        ("::1", ["127.0.0.1", "::1"]),
    ],
)
def test_another_address_is_bound_beside_loopback(bind: str, where: list[str]) -> None:
    """Where svc looks for its sandboxes, each of them answers; one port for all."""
    socks = listen_on(0, bind)
    try:
        assert [each.getsockname()[0] for each in socks] == where
        (port,) = {each.getsockname()[1] for each in socks}
        for host in ("127.0.0.1", *where):
            socket.create_connection((host, port)).close()
    finally:
        for each in socks:
            each.close()


def test_address_of_another_machine_is_one_line() -> None:
    """The port on loopback is let go again."""
    with pytest.raises(LocalError, match=r"on 192\.0\.2\.1 cannot be used") as caught:
        listen_on(free_port(), "192.0.2.1")
    assert "0.0.0.0" in (caught.value.hint or "")


def test_taken_port_is_one_line_with_the_fix() -> None:
    """A port that another socket listens on is refused, and another is proposed."""
    with listen_on(0)[0] as sock:
        port = sock.getsockname()[1]
        with pytest.raises(LocalError) as caught:
            listen_on(port)
    assert caught.value.message == f"Port {port} on 127.0.0.1 is taken."
    assert caught.value.code == "port_taken"
    assert f"--port {port + 1}" in (caught.value.hint or "")


def test_port_is_free_again_at_once() -> None:
    """A restart needs no waiting, even after a connection was served."""
    with listen_on(0)[0] as sock:
        port = sock.getsockname()[1]
        with socket.create_connection(("127.0.0.1", port)):
            sock.accept()[0].close()
    listen_on(port)[0].close()


@pytest.mark.parametrize("port", [-1, 65536])
def test_number_that_is_no_port_is_refused(port: int) -> None:
    """Ports go from 0 to 65535."""
    with pytest.raises(LocalError, match="is not a port"):
        listen_on(port)
