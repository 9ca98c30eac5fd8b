"""https: certificates, proxies, and that nothing is sent before both are settled."""

import datetime as dt
import ipaddress
import socket
import ssl
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from svc.client import refunds
from svc.client.client import Client
from svc.client.wire import sockets, tls
from svc.errors import ConfigError, NetworkError

if TYPE_CHECKING:
    Connect = Callable[..., Client]

POST = refunds.create({"payment": "pay_1"})
ANSWER = b'HTTP/1.1 200 OK\r\nContent-Length: 31\r\n\r\n{"id":"rf_1","object":"refund"}'
NOW = dt.datetime.now(dt.UTC)
DAY = dt.timedelta(days=1)


@dataclass
class Authority:
    """A certificate authority of the test's own."""

    folder: Path
    key: Any = field(default_factory=lambda: ec.generate_private_key(ec.SECP256R1()))

    def __post_init__(self) -> None:
        self.name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "Test CA")])
        made = self._builder(self.name, self.key, self.name).add_extension(
            x509.BasicConstraints(ca=True, path_length=None), critical=True
        )
        self.file = self.folder / "ca.pem"
        certificate = made.sign(self.key, hashes.SHA256())
        self.file.write_bytes(certificate.public_bytes(serialization.Encoding.PEM))

    def issue(self, host: str, *, expired: bool = False, self_signed: bool = False) -> Path:
        key = ec.generate_private_key(ec.SECP256R1())
        subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "server")])
        try:
            name: x509.GeneralName = x509.IPAddress(ipaddress.ip_address(host))
        except ValueError:
            name = x509.DNSName(host)
        issuer = subject if self_signed else self.name
        made = self._builder(subject, key, issuer, expired=expired).add_extension(
            x509.SubjectAlternativeName([name]), critical=False
        )
        certificate = made.sign(key if self_signed else self.key, hashes.SHA256())
        file = self.folder / "server.pem"
        file.write_bytes(
            certificate.public_bytes(serialization.Encoding.PEM)
            + key.private_bytes(
                serialization.Encoding.PEM,
                serialization.PrivateFormat.PKCS8,
                serialization.NoEncryption(),
            )
        )
        return file

    def _builder(
        self, subject: x509.Name, key: Any, issuer: x509.Name, *, expired: bool = False
    ) -> x509.CertificateBuilder:
        end = NOW - DAY if expired else NOW + DAY
        return (
            x509.CertificateBuilder()
            .subject_name(subject)
            .issuer_name(issuer)
            .public_key(key.public_key())
            .serial_number(x509.random_serial_number())
            .not_valid_before(NOW - 2 * DAY)
            .not_valid_after(end)
        )


class TlsServer:
    """Answers one request a connection over TLS; counts what got through the handshake."""

    def __init__(self, certificate: Path | None) -> None:
        self._context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        if certificate is not None:
            self._context.load_cert_chain(certificate)
        self._tls = certificate is not None
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = self._listener.getsockname()[1]
        self.requests: list[bytes] = []
        self.connections = 0
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()

    def stop(self) -> None:
        with suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self._thread.join(5)

    def _serve(self) -> None:
        while True:
            try:
                plain, _ = self._listener.accept()
            except OSError:
                return
            self.connections += 1
            with plain, suppress(OSError):
                if self._tls:
                    self._answer(plain)

    def _answer(self, plain: socket.socket) -> None:
        with self._context.wrap_socket(plain, server_side=True) as sock:
            self.requests.append(sock.recv(65536))
            sock.sendall(ANSWER)


class ConnectProxy:
    """A proxy that connects every CONNECT to one port, or refuses it with a status."""

    def __init__(self, target_port: int, status: int = 200) -> None:
        self._target_port = target_port
        self._status = status
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = self._listener.getsockname()[1]
        self.heads: list[bytes] = []
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()

    def stop(self) -> None:
        with suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self._thread.join(5)

    def _serve(self) -> None:
        while True:
            try:
                inner, _ = self._listener.accept()
            except OSError:
                return
            with inner, suppress(OSError):
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
    """R27, faults 4-6: one attempt, exit 8, not one byte of the request."""
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
    """Fault 7: closed in the middle of the handshake, four attempts, exit 8, not sent."""
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
    """Fault 32, L8: SSL_CERT_FILE and SSL_CERT_DIR name an authority; it is not believed."""
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


def test_without_a_hashed_directory_certifi_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    """A system without one still knows the world's authorities."""
    monkeypatch.setattr(tls, "_hashed_directory", lambda: None)
    assert len(tls.context(None).get_ca_certs()) > 50


def test_a_request_goes_through_a_proxy(
    authority: Authority,
    serve: Callable[..., TlsServer],
    connect: "Connect",
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """R26, R28: the proxy is asked to CONNECT and sees neither the key nor the path."""
    server = serve(authority.issue("api.example.com"))
    proxy = ConnectProxy(server.port)
    try:
        client = connect(
            "https://api.example.com",
            proxy=f"http://me:secret@127.0.0.1:{proxy.port}",
            ca_bundle=str(authority.file),
        )
        assert client.send(POST).data["id"] == "rf_1"
        client.close()
    finally:
        proxy.stop()
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
    proxy = ConnectProxy(1, status)
    try:
        with pytest.raises(NetworkError) as caught:
            connect("https://api.example.com", proxy=f"http://127.0.0.1:{proxy.port}").send(POST)
    finally:
        proxy.stop()
    assert caught.value.outcome == "not_sent"
    assert f"the proxy answered {status}" in caught.value.message
    assert len(proxy.heads) == attempts


def test_plain_http_needs_no_tls(connect: "Connect") -> None:
    """Performance: nothing of TLS is set up for a sandbox."""
    wire = connect("http://127.0.0.1:1")._wire
    assert isinstance(wire, sockets.SocketWire)
    assert wire._trusted is None
