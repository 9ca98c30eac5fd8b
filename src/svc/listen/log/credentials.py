"""What a log knows its users by: a name and password, or a NATS credentials file."""

import base64
import binascii
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Self

from svc.api_keys import LOG_VARIABLE
from svc.errors import UsageError

_JWT: Final = re.compile(r"-+BEGIN NATS USER JWT-+\s+(\S+)\s+-+END NATS USER JWT-+")
_SEED: Final = re.compile(r"-+BEGIN USER NKEY SEED-+\s+(\S+)\s+-+END USER NKEY SEED-+")
_NAME: Final = re.compile(r"[^A-Za-z0-9_-]")
_SEED_BYTES: Final = slice(2, 34)  # between two bytes that say what it is and a checksum
_SEED_LENGTH: Final = 36


@dataclass(frozen=True, slots=True)
class Credentials:
    """One user of a log. `text` is what was given, for the keyring; it never shows itself."""

    user: str
    text: str = field(repr=False)
    password: str | None = field(default=None, repr=False)
    jwt: str | None = field(default=None, repr=False)
    seed: bytes | None = field(default=None, repr=False)

    @classmethod
    def parse(cls, text: str, source: str) -> Self:
        """Reads `USER:PASSWORD` or the text of a credentials file; `source` says where it was.

        Raises:
            UsageError: it is neither.
        """
        jwt, seed = _JWT.search(text), _SEED.search(text)
        if jwt is not None and seed is not None:
            return cls(_user_of(jwt[1]), text, jwt=jwt[1], seed=_seed(seed[1], source))
        user, colon, password = text.removesuffix("\n").partition(":")
        if not colon or not user or not password or not text.removesuffix("\n").isprintable():
            raise UsageError(
                f"{source} holds no credentials of a log.",
                code="log_credentials_invalid",
                hint="Give USER:PASSWORD, or the whole text of a NATS credentials file",
            )
        return cls(user, text, password=password)

    @property
    def label(self) -> str:
        """The user's name as a part of a name at the log."""
        return _NAME.sub("-", self.user)[:32]

    def options(self) -> dict[str, Any]:
        """What the client library is told of them."""
        if self.jwt is None:
            return {"user": self.user, "password": self.password}
        token = self.jwt.encode()
        return {"user_jwt_cb": lambda: bytearray(token), "signature_cb": self._sign}

    def _sign(self, nonce: str) -> bytes:
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

        assert self.seed is not None
        key = Ed25519PrivateKey.from_private_bytes(self.seed)
        return base64.b64encode(key.sign(nonce.encode()))


def from_environment(env: Mapping[str, str]) -> Credentials | None:
    """Gives the credentials of SVC_LOG_CREDENTIALS; None where it is not set.

    Raises:
        UsageError: it holds none.
    """
    text = env.get(LOG_VARIABLE, "")
    return Credentials.parse(text, LOG_VARIABLE) if text else None


def _seed(text: str, source: str) -> bytes:
    try:
        raw = base64.b32decode(text + "=" * (-len(text) % 8))
    except (binascii.Error, ValueError):
        raw = b""
    if len(raw) != _SEED_LENGTH:
        raise UsageError(f"{source} holds a malformed seed.", code="log_credentials_invalid")
    return raw[_SEED_BYTES]


def _user_of(jwt: str) -> str:
    """Reads the name in a token, which the log itself checks."""
    try:
        middle = jwt.split(".")[1]
        claims = json.loads(base64.urlsafe_b64decode(middle + "=" * (-len(middle) % 4)))
        return str(claims["name"])
    except (IndexError, ValueError, KeyError, TypeError):
        return "user"
