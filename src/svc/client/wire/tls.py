"""TLS for https origins; imported only for these (promise R27).

`sockets` does the handshake with it; a team's log (`svc events`) uses the same trusted authorities.
"""

import os
import socket
import ssl

from svc.client.exchange import Deadline, Trouble, WireBroken
from svc.client.wire.connection import await_turn
from svc.errors import ConfigError, system_words


def context(ca_bundle: str | None, directory: str | None = None) -> ssl.SSLContext:
    """Builds a context that trusts the system's authorities, else certifi's, and `ca_bundle`.

    `directory` replaces the system's hashed directory.

    `SSL_CERT_FILE` and similar variables have no effect, and verification cannot be switched off.

    Raises:
        ConfigError: `ca_bundle` cannot be read.
    """
    made = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    made.minimum_version = ssl.TLSVersion.TLSv1_2
    made.set_alpn_protocols(["http/1.1"])
    # The compiled-in directory, not the one that the environment names.
    directory = directory or ssl.get_default_verify_paths().openssl_capath
    if _is_hashed(directory):
        made.load_verify_locations(capath=directory)
    else:
        import certifi

        made.load_verify_locations(cafile=certifi.where())
    if ca_bundle is not None:
        try:
            made.load_verify_locations(cafile=ca_bundle)
        except (OSError, ValueError):  # SSLError is an OSError: the file holds no certificate
            raise ConfigError(
                f"The CA bundle {ca_bundle!r} cannot be read as PEM certificates.",
                code="ca_bundle_invalid",
                param="ca_bundle",
                hint="Give a file of certificates that begin with -----BEGIN CERTIFICATE-----",
            ) from None
    return made


def shake_hands(
    sock: socket.socket, host: str, trusted: ssl.SSLContext, limit: Deadline
) -> ssl.SSLSocket:
    """Does the handshake and verifies `host`; raises WireBroken: CERTIFICATE (final) or NO_TLS."""
    try:
        # Bytes, because text would pass through the slow import of the IDNA tables.
        made = trusted.wrap_socket(
            sock, server_hostname=host.encode("ascii"), do_handshake_on_connect=False
        )
        try:
            _shake_hands(made, limit)
        except BaseException:
            made.close()
            raise
        return made  # noqa: TRY300  what fails is told below
    except ssl.SSLCertVerificationError as error:
        raise WireBroken(Trouble.CERTIFICATE, error.verify_message) from None
    except TimeoutError:
        raise WireBroken(Trouble.NO_TLS, "timed out") from None
    except ssl.SSLError as error:
        raise WireBroken(Trouble.NO_TLS, (error.reason or "").replace("_", " ").lower()) from None
    except OSError as error:
        raise WireBroken(Trouble.NO_TLS, system_words(error)) from None


def _shake_hands(made: ssl.SSLSocket, limit: Deadline) -> None:
    while limit.seconds_left() > 0:
        try:
            made.do_handshake()
        except OSError as error:
            await_turn(made, error, limit, write=False)
        else:
            return
    raise TimeoutError


def _is_hashed(directory: str) -> bool:
    try:
        with os.scandir(directory) as entries:
            return any(entry.name.endswith(".0") for entry in entries)
    except OSError:
        return False
