"""The socket of the sandbox."""

import socket

import pytest

from support.serving import free_port
from svc.errors import LocalError
from svc.sandbox.process.records import listen_on


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
