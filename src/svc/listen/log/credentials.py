"""The credentials of a member of a team's log: its user, its password or file, the log's keys.

A user is a name and password, or the text of a NATS credentials file. The log's key is a line of
its own beside it; while a key is replaced there may be two, the newer one first.

`svc events log login` stores them in the keyring; `client` presents them to the servers.
"""

import base64
import binascii
import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final, Self

from svc.api_keys import LOG_VARIABLE
from svc.errors import AuthError, UsageError
from svc.listen.log import proof

_JWT: Final = re.compile(r"-+BEGIN NATS USER JWT-+\s+(\S+)\s+-+END NATS USER JWT-+")
_SEED: Final = re.compile(r"-+BEGIN USER NKEY SEED-+\s+(\S+)\s+-+END USER NKEY SEED-+")
_NAME: Final = re.compile(r"[^A-Za-z0-9_-]")
_SEED_BYTES: Final = slice(2, 34)  # between two bytes that say what it is and a checksum
_SEED_LENGTH: Final = 36
_MOST_KEYS: Final = 2
KEY_WRONG: Final = "log_key_wrong"


@dataclass(frozen=True, slots=True)
class Credentials:
    """One user of a log, and the log's keys; no secret shows itself.

    `user` is None where a log of this machine has no users. `text` is what was given.
    """

    user: str | None
    text: str = field(repr=False)
    keys: tuple[str, ...] = field(default=(), repr=False)
    password: str | None = field(default=None, repr=False)
    jwt: str | None = field(default=None, repr=False)
    seed: bytes | None = field(default=None, repr=False)

    @classmethod
    def parse(cls, text: str, source: str) -> Self:
        """Reads `USER:PASSWORD` or the text of a credentials file, and the lines of the log's keys.

        `source` says where the text was.

        Raises:
            UsageError: the text is neither.
        """
        keys = tuple(proof.KEY.findall(text))[:_MOST_KEYS]
        rest = proof.KEY.sub("", text).strip("\r\n")
        if keys and not rest.strip():
            return cls(None, text, keys)
        jwt, seed = _JWT.search(text), _SEED.search(text)
        if jwt is not None and seed is not None:
            return cls(_user_of(jwt[1]), text, keys, jwt=jwt[1], seed=_seed(seed[1], source))
        user, colon, password = rest.partition(":")
        if not colon or not user or not password or not rest.isprintable():
            raise UsageError(
                f"{source} holds no credentials of a log.",
                code="log_credentials_invalid",
                hint="Give USER:PASSWORD and below it the log's key, or the whole text of a NATS "
                "credentials file and the key",
            )
        return cls(user, text, keys, password=password)

    def with_key(self, key: str) -> Self:
        """Returns the same credentials with a newer key of the log; the one before still counts."""
        plain = "\n".join(one for one in self.text.splitlines() if not proof.KEY.fullmatch(one))
        keys = (key, *self.keys[:1])
        text = "\n".join([*([plain] if plain else []), *keys]) + "\n"
        return replace(self, text=text, keys=keys)

    @property
    def label(self) -> str:
        """The user's name as a part of a name at the log."""
        return _NAME.sub("-", self.user or "")[:32]

    def options(self) -> dict[str, Any]:
        """Functions that the client library calls for the user and password when it sends them."""
        if self.user is None:
            return {}
        if self.jwt is None:
            return {"user": lambda: self.user, "password": lambda: self.password}
        token = self.jwt.encode()
        return {"user_jwt_cb": lambda: bytearray(token), "signature_cb": self._sign}

    def _sign(self, nonce: str) -> bytes:
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

        assert self.seed is not None
        key = Ed25519PrivateKey.from_private_bytes(self.seed)
        return base64.b64encode(key.sign(nonce.encode()))


def keys_of(
    credentials: Credentials | None, stream: str, fingerprint: str | None
) -> tuple[str, ...]:
    """Returns the log's keys, the one that it names as its own first.

    Raises:
        AuthError: there is none, or the log has another one.
    """
    held = credentials.keys if credentials is not None else ()
    if not held:
        raise AuthError(
            "The log's key is missing: without it a receiver's events cannot be told from forged "
            "ones.",
            code="log_key_missing",
            hint="It stands below USER:PASSWORD in the credentials. Who has it prints it by "
            "svc events log create --print-key; if it is lost, add --new-key",
        )
    check_keys(held, stream, fingerprint)
    return tuple(sorted(held, key=lambda one: proof.fingerprint(one) != fingerprint))


def check_keys(held: Iterable[str], stream: str, fingerprint: str | None) -> None:
    """Raises AuthError where a log names a key as its own that is not among those held."""
    if fingerprint is not None and fingerprint not in map(proof.fingerprint, held):
        raise AuthError(
            f"The log's key in these credentials is not the one of {stream}.",
            code=KEY_WRONG,
            hint="Ask for the credentials of this log, and store them: svc events log login LOG",
        )


def from_environment(env: Mapping[str, str]) -> Credentials | None:
    """Returns SVC_LOG_CREDENTIALS, None where it is not set; raises UsageError: it holds none."""
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
