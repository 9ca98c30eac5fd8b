"""Certificates of a test's own, and a server that shows them."""

import datetime as dt
import ipaddress
import socket
import ssl
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from support.servers.accepting import OneByOne

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

    def issue(
        self, host: str, *, days: int = 1, expired: bool = False, self_signed: bool = False
    ) -> Path:
        key = ec.generate_private_key(ec.SECP256R1())
        subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "server")])
        try:
            name: x509.GeneralName = x509.IPAddress(ipaddress.ip_address(host))
        except ValueError:
            name = x509.DNSName(host)
        issuer = subject if self_signed else self.name
        made = self._builder(subject, key, issuer, -1 if expired else days).add_extension(
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
        self, subject: x509.Name, key: Any, issuer: x509.Name, days: int = 1
    ) -> x509.CertificateBuilder:
        return (
            x509.CertificateBuilder()
            .subject_name(subject)
            .issuer_name(issuer)
            .public_key(key.public_key())
            .serial_number(x509.random_serial_number())
            .not_valid_before(NOW - 2 * DAY)
            .not_valid_after(NOW + days * DAY)
        )


class TlsServer(OneByOne):
    """Answers one request a connection over TLS; counts what got through the handshake.

    Without a certificate it closes every connection.
    """

    def __init__(self, certificate: Path | None) -> None:
        self._context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        if certificate is not None:
            self._context.load_cert_chain(certificate)
        self.requests: list[bytes] = []
        super().__init__(self._answer if certificate is not None else lambda plain: None)

    def _answer(self, plain: socket.socket) -> None:
        with self._context.wrap_socket(plain, server_side=True) as sock:
            self.requests.append(sock.recv(65536))
            sock.sendall(ANSWER)
