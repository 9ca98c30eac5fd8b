"""Makes a TLS certificate for this machine's loopback names, and the authority that signs it.

The authority's private key is used once and never written: no other certificate can be made
with it, and its name constraints allow none but loopback names. `svc sandbox start --tls` stores
what `issue` returns, and issues anew when `ends` says that the stored certificate runs out. To
import it raises LocalError where the library for certificates is not installed.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta
from ipaddress import ip_address, ip_network
from typing import Final

from svc.errors import LocalError

try:
    from cryptography import x509
    from cryptography.hazmat.primitives import serialization
    from cryptography.hazmat.primitives.asymmetric import ec
    from cryptography.hazmat.primitives.hashes import SHA256
    from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID
except ImportError as error:
    raise LocalError(
        "--tls needs the Python package cryptography, and it is not installed.",
        code="cryptography_missing",
        hint="Install it beside svc, or give your own: --certificate FILE --private-key FILE",
    ) from error

LIFETIME: Final = timedelta(days=397)  # what browsers accept at most
RENEWAL: Final = timedelta(days=30)  # before its end a certificate is made anew
_CLOCKS_APART: Final = timedelta(hours=1)
_HOSTS: Final = ("localhost",)
_ADDRESSES: Final = ("127.0.0.1", "::1")
_NETWORKS: Final = ("127.0.0.0/8", "::1/128")


@dataclass(frozen=True, slots=True)
class Issued:
    """PEM texts: what clients trust, what the server shows, and the server's key."""

    serial: str
    authority: bytes
    certificate: bytes
    private_key: bytes


def issue(now: datetime) -> Issued:
    """Makes an authority and a certificate for localhost, 127.0.0.1 and ::1."""
    above, below = ec.generate_private_key(ec.SECP256R1()), ec.generate_private_key(ec.SECP256R1())
    authority = _authority(above, now)
    certificate = _certificate(authority, above, below, now)
    pem = serialization.Encoding.PEM
    return Issued(
        serial=f"{certificate.serial_number:x}",
        authority=authority.public_bytes(pem),
        certificate=certificate.public_bytes(pem),
        private_key=below.private_bytes(
            pem, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        ),
    )


def ends(certificate: bytes) -> datetime:
    """When a PEM certificate ends; raises ValueError: it is none."""
    return x509.load_pem_x509_certificate(certificate).not_valid_after_utc


def _authority(key: ec.EllipticCurvePrivateKey, now: datetime) -> x509.Certificate:
    name = _name("svc sandbox authority of this machine")
    allowed: list[x509.GeneralName] = [x509.DNSName(host) for host in _HOSTS]
    allowed += [x509.IPAddress(ip_network(text)) for text in _NETWORKS]
    builder = _builder(name, name, key, now)
    builder = builder.add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
    builder = builder.add_extension(_usage(signs_certificates=True), critical=True)
    builder = builder.add_extension(x509.NameConstraints(allowed, None), critical=True)
    return builder.sign(key, SHA256())


def _certificate(
    authority: x509.Certificate,
    above: ec.EllipticCurvePrivateKey,
    below: ec.EllipticCurvePrivateKey,
    now: datetime,
) -> x509.Certificate:
    names: list[x509.GeneralName] = [x509.DNSName(host) for host in _HOSTS]
    names += [x509.IPAddress(ip_address(text)) for text in _ADDRESSES]
    keeper = x509.AuthorityKeyIdentifier.from_issuer_public_key(above.public_key())
    builder = _builder(_name("svc sandbox"), authority.subject, below, now)
    builder = builder.add_extension(
        x509.BasicConstraints(ca=False, path_length=None), critical=True
    )
    builder = builder.add_extension(_usage(signs_certificates=False), critical=True)
    builder = builder.add_extension(x509.SubjectAlternativeName(names), critical=False)
    servers = x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH])
    builder = builder.add_extension(servers, critical=False)
    return builder.add_extension(keeper, critical=False).sign(above, SHA256())


def _builder(
    subject: x509.Name, issuer: x509.Name, key: ec.EllipticCurvePrivateKey, now: datetime
) -> x509.CertificateBuilder:
    identifier = x509.SubjectKeyIdentifier.from_public_key(key.public_key())
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - _CLOCKS_APART)
        .not_valid_after(now + LIFETIME)
        .add_extension(identifier, critical=False)
    )


def _usage(*, signs_certificates: bool) -> x509.KeyUsage:
    return x509.KeyUsage(
        digital_signature=not signs_certificates,
        key_cert_sign=signs_certificates,
        crl_sign=signs_certificates,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        encipher_only=False,
        decipher_only=False,
    )


def _name(text: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, text)])
