"""https: certificates, proxies, and that nothing is sent before both are settled."""

import socket
import ssl
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from support.calls import refunds
from support.servers.accepting import OneByOne
from support.servers.certificates import Authority, TlsServer
from svc.client.client import Client
from svc.client.wire import sockets, tls
from svc.errors import ConfigError, NetworkError

pytestmark = pytest.mark.smoke

if TYPE_CHECKING:
    Connect = Callable[..., Client]

POST = refunds.create({"payment": "pay_1"})


class ConnectProxy(OneByOne):
    """A proxy that connects every CONNECT to one port, or refuses it with a status."""

    def __init__(self, target_port: int, status: int = 200) -> None:
        self._target_port = target_port
        self._status = status
        self.heads: list[bytes] = []
        super().__init__(self._connect)

    def _connect(self, inner: socket.socket) -> None:
        self.heads.append(inner.recv(65536))
        inner.sendall(f"HTTP/1.1 {self._status} X\r\n\r\n".encode())
        if self._status == 200:
            self._pipe(inner)

    def _pipe(self, inner: socket.socket) -> None:
        with socket.create_connection(("127.0.0.1", self._target_port)) as outer:
            back = threading.Thread(target=_copy, args=(outer, inner), daemon=True)
            back.start()
            _copy(inner, outer)
            back.join(5)


def _copy(source: socket.socket, target: socket.socket) -> None:
    with suppress(OSError):
        while data := source.recv(65536):
            target.sendall(data)
    with suppress(OSError):
        target.shutdown(socket.SHUT_WR)


@pytest.fixture
def authority(tmp_path: Path) -> Authority:
    return Authority(tmp_path)


@pytest.fixture
def serve() -> Iterator[Callable[[Path | None], TlsServer]]:
    made: list[TlsServer] = []

    def serve(certificate: Path | None) -> TlsServer:
        made.append(TlsServer(certificate))
        return made[-1]

    yield serve
    for server in made:
        server.stop()


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"])
def test_https_works_with_a_bundle_of_the_users_own(
    host: str, authority: Authority, serve: Callable[..., TlsServer], connect: "Connect"
) -> None:
    """R27: `--ca-bundle` adds an authority; the name in the certificate is checked."""
    server = serve(authority.issue(host))
    client = connect(f"https://{host}:{server.port}", ca_bundle=str(authority.file))
    assert client.send(POST).data["id"] == "rf_1"
    assert server.requests[0].startswith(b"POST /v1/refunds HTTP/1.1\r\n")


@pytest.mark.parametrize(
    ("host", "options", "bundled"),
    [
        ("localhost", {"expired": True}, True),
        ("localhost", {}, False),
        ("localhost", {"self_signed": True}, True),
        ("other.example", {}, True),
        ("127.0.0.1", {}, True),
    ],
    ids=["expired", "unknown authority", "self-signed", "wrong host", "address for a name"],
)
def test_a_bad_certificate_sends_nothing(
    host: str,
    options: dict[str, bool],
    bundled: bool,
    authority: Authority,
    serve: Callable[..., TlsServer],
    connect: "Connect",
) -> None:
    """R27: one attempt, exit 8, not one byte of the request."""
    server = serve(authority.issue(host, **options))
    bundle = str(authority.file) if bundled else None
    with pytest.raises(NetworkError) as caught:
        connect(f"https://localhost:{server.port}", ca_bundle=bundle).send(POST)
    assert (int(caught.value.exit_code), caught.value.outcome) == (8, "not_sent")
    assert "certificate is not valid" in caught.value.message
    assert (server.connections, server.requests) == (1, [])


def test_a_handshake_that_is_cut_is_tried_again(
    serve: Callable[..., TlsServer], connect: "Connect"
) -> None:
    """Closed in the middle of the handshake, four attempts, exit 8, not sent."""
    server = serve(None)
    with pytest.raises(NetworkError) as caught:
        connect(f"https://127.0.0.1:{server.port}").send(POST)
    assert caught.value.outcome == "not_sent"
    assert server.connections == 4


def test_hostile_variables_do_not_change_whom_we_trust(
    authority: Authority,
    serve: Callable[..., TlsServer],
    connect: "Connect",
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """SSL_CERT_FILE and SSL_CERT_DIR name an authority; it is not believed."""
    monkeypatch.setenv("SSL_CERT_FILE", str(authority.file))
    monkeypatch.setenv("SSL_CERT_DIR", str(authority.folder))
    monkeypatch.setenv("SSLKEYLOGFILE", str(authority.folder / "keys.log"))
    server = serve(authority.issue("localhost"))
    with pytest.raises(NetworkError):
        connect(f"https://localhost:{server.port}").send(POST)
    assert server.requests == []
    assert not (authority.folder / "keys.log").exists()


@pytest.mark.parametrize("content", [None, b"", b"no certificate"])
def test_an_unreadable_bundle_is_wrong_use(
    content: bytes | None, tmp_path: Path, connect: "Connect"
) -> None:
    """R27: exit 2 before anything is sent."""
    file = tmp_path / "bundle.pem"
    if content is not None:
        file.write_bytes(content)
    with pytest.raises(ConfigError) as caught:
        connect("https://localhost:1", ca_bundle=str(file))
    assert int(caught.value.exit_code) == 2


def test_verification_is_on_and_old_tls_is_off() -> None:
    """R27: there is no way to a context that is weaker than this."""
    made = tls.context(None)
    assert made.verify_mode is ssl.CERT_REQUIRED
    assert made.check_hostname
    assert made.minimum_version is ssl.TLSVersion.TLSv1_2


@pytest.mark.parametrize("name", [".", "missing"])
def test_without_a_hashed_directory_certifi_is_used(tmp_path: Path, name: str) -> None:
    """A system without one still knows the world's authorities."""
    (tmp_path / "ca-certificates.crt").touch()
    assert len(tls.context(None, str(tmp_path / name)).get_ca_certs()) > 50


def test_a_request_goes_through_a_proxy(
    authority: Authority,
    serve: Callable[..., TlsServer],
    connect: "Connect",
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """R26, R28: the proxy is asked to CONNECT and sees neither the key nor the path."""
    server = serve(authority.issue("api.example.com"))
    with ConnectProxy(server.port) as proxy:
        client = connect(
            "https://api.example.com",
            proxy=f"http://me:secret@127.0.0.1:{proxy.port}",
            ca_bundle=str(authority.file),
        )
        assert client.send(POST).data["id"] == "rf_1"
        client.close()
    assert len(proxy.heads) == 1
    assert proxy.heads[0] == (
        b"CONNECT api.example.com:443 HTTP/1.1\r\n"
        b"Host: api.example.com:443\r\n"
        b"Proxy-Authorization: Basic bWU6c2VjcmV0\r\n\r\n"
    )
    assert b"Proxy-Authorization" not in server.requests[0]


@pytest.mark.parametrize(("status", "attempts"), [(407, 1), (403, 1), (502, 4)])
def test_a_proxy_that_refuses_sends_nothing(status: int, attempts: int, connect: "Connect") -> None:
    """R26: a refusal is final, a gateway error may pass; the request never left."""
    with ConnectProxy(1, status) as proxy, pytest.raises(NetworkError) as caught:
        connect("https://api.example.com", proxy=f"http://127.0.0.1:{proxy.port}").send(POST)
    assert caught.value.outcome == "not_sent"
    assert f"the proxy 127.0.0.1:{proxy.port} answered {status}" in caught.value.message
    assert ("SVC_PROXY=http://USER:PASSWORD@HOST:PORT" in str(caught.value.hint)) == (status == 407)
    assert len(proxy.heads) == attempts


def test_plain_http_needs_no_tls(connect: "Connect") -> None:
    """Performance: nothing of TLS is set up for a sandbox."""
    wire = connect("http://127.0.0.1:1")._wire
    assert isinstance(wire, sockets.SocketWire)
    assert wire._trusted is None
