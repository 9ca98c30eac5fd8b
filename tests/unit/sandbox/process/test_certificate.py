"""The certificate of `--tls`: what it is good for, and what it cannot be used for."""

import socket
import ssl
import sys
import threading
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from importlib import import_module
from pathlib import Path

import pytest
from cryptography import x509

from svc.errors import LocalError
from svc.sandbox.process.certificate import Issued, ends, issue


@pytest.fixture(scope="module")
def issued() -> Issued:
    """A pair that was made now."""
    return issue(datetime.now(UTC))


@pytest.fixture
def port(issued: Issued, tmp_path: Path) -> Iterator[int]:
    """A server with the pair, for one handshake."""
    both = tmp_path / "both.pem"
    both.write_bytes(issued.certificate + issued.private_key)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(both)
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def serve() -> None:
            accepted, _ = listening.accept()
            with accepted:
                try:
                    context.wrap_socket(accepted, server_side=True).close()
                except OSError:
                    return  # the client did not trust us

        thread = threading.Thread(target=serve)
        thread.start()
        yield listening.getsockname()[1]
        thread.join()


def shake_hands(port: int, name: str, trusted: bytes | None) -> None:
    """A client's handshake with all checks on, as Python 3.13 has them by default."""
    context = ssl.create_default_context(cadata=trusted.decode() if trusted else None)
    context.verify_flags |= ssl.VERIFY_X509_STRICT
    with (
        socket.create_connection(("127.0.0.1", port), timeout=60) as connection,
        context.wrap_socket(connection, server_hostname=name) as secured,
    ):
        assert secured.version() == "TLSv1.3"


@pytest.mark.parametrize("name", ["localhost", "127.0.0.1", "::1"])
def test_loopback_names_verify_against_the_authority(issued: Issued, port: int, name: str) -> None:
    """With the authority trusted, the strictest verification passes for each loopback name."""
    shake_hands(port, name, issued.authority)


@pytest.mark.parametrize(("name", "trusted"), [("localhost", False), ("example.com", True)])
def test_nobody_else_trusts_it(issued: Issued, port: int, name: str, trusted: bool) -> None:
    """Not without the authority, and not for another name."""
    with pytest.raises(ssl.SSLCertVerificationError):
        shake_hands(port, name, issued.authority if trusted else None)


def test_authority_may_sign_for_loopback_names_only(issued: Issued) -> None:
    """Name constraints, and its key is nowhere."""
    authority = x509.load_pem_x509_certificate(issued.authority)
    limits = authority.extensions.get_extension_for_class(x509.NameConstraints)
    allowed = [str(each.value) for each in limits.value.permitted_subtrees or ()]
    assert (limits.critical, allowed) == (True, ["localhost", "127.0.0.0/8", "::1/128"])
    certificate = x509.load_pem_x509_certificate(issued.certificate)
    certificate.verify_directly_issued_by(authority)
    assert certificate.public_key() != authority.public_key()
    assert issued.private_key.count(b"BEGIN") == 1


def test_end_of_a_certificate_is_read(issued: Issued) -> None:
    """Browsers take 397 days, clocks may differ by an hour; what is none is a ValueError."""
    now = datetime(2026, 10, 1, tzinfo=UTC)
    shown = x509.load_pem_x509_certificate(issue(now).certificate)
    assert shown.not_valid_before_utc == now - timedelta(hours=1)
    assert ends(issue(now).certificate) == now + timedelta(days=397)
    with pytest.raises(ValueError, match="PEM"):
        ends(b"nonsense")


def test_each_of_the_pair_is_for_one_thing_alone(issued: Issued) -> None:
    """The authority signs certificates and nothing else; the other serves."""
    every = "digital_signature key_cert_sign crl_sign key_encipherment key_agreement".split()
    every += ["content_commitment", "data_encipherment"]
    for pem, uses, ca, below in (
        (issued.authority, ["key_cert_sign", "crl_sign"], True, 0),
        (issued.certificate, ["digital_signature"], False, None),
    ):
        shown = x509.load_pem_x509_certificate(pem).extensions
        usage = shown.get_extension_for_class(x509.KeyUsage)
        basic = shown.get_extension_for_class(x509.BasicConstraints)
        assert [one for one in every if getattr(usage.value, one)] == uses
        assert (basic.value.ca, basic.value.path_length) == (ca, below)
        assert (usage.critical, basic.critical) == (True, True)
    names = shown.get_extension_for_class(x509.SubjectAlternativeName)
    keeper = shown.get_extension_for_class(x509.AuthorityKeyIdentifier)
    servers = shown.get_extension_for_class(x509.ExtendedKeyUsage)
    assert (names.critical, keeper.critical, servers.critical) == (False, False, False)


def test_without_the_library_the_error_says_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    """One line, and the way out that needs no library."""
    name = "svc.sandbox.process.certificate"
    monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "cryptography", None)
    with pytest.raises(LocalError, match="cryptography") as caught:
        import_module(name)
    assert "--certificate" in (caught.value.hint or "")
