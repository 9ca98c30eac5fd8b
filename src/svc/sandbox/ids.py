"""Identifiers and secrets: from the system's randomness, or one fixed sequence (contract F.7)."""

import hashlib
from collections.abc import Callable
from typing import Any

ID_LENGTH = 24
_ALPHABET = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
_KEY_BYTES = 32
_LENGTH_MAX = 64  # base 62 digits that 64 bytes give without a bias worth naming

Random = Callable[[int], bytes]


class IdSource:
    """Draws ids; with a seed the n-th id is a function of seed and n alone.

    The counter is part of the saved state, so that a restart continues the sequence. Ids that
    depend on the network's timing are derived from what they name instead of the counter: the
    sequence of the counter then depends on nothing but the calls.
    """

    def __init__(self, seed: int | None, random: Random) -> None:
        self._random = random
        self.seed = seed
        self._key = random(_KEY_BYTES) if seed is None else _seed_key(seed)
        self._counter = 0
        self._requests = 0
        self._boot = 0

    def new(self, prefix: str, length: int = ID_LENGTH) -> str:
        """Prefix and `length` characters of `[0-9A-Za-z]`."""
        if self.seed is None:
            return prefix + _base62(self._random(64), length)
        self._counter += 1
        return prefix + self._hashed(f"new:{self._counter}", length)

    def derived(self, prefix: str, *parts: object) -> str:
        """The one id that belongs to these parts in this sandbox."""
        return prefix + self._hashed("derived:" + ":".join(map(str, parts)), ID_LENGTH)

    def request(self) -> str:
        """An id for one HTTP exchange, from a sequence of its own that reads do not disturb."""
        if self.seed is None:
            return "req_" + _base62(self._random(64), ID_LENGTH)
        self._requests += 1
        return "req_" + self._hashed(f"request:{self._boot}:{self._requests}", ID_LENGTH)

    @property
    def position(self) -> int:
        """Where the sequence stands; give it to `rewind` to take ids back that were not used."""
        return self._counter

    def rewind(self, position: int) -> None:
        """Returns to an earlier position: a call that failed drew nothing."""
        self._counter = position

    def dump(self) -> dict[str, Any]:
        """The state to save."""
        return {
            "seed": self.seed,
            "key": self._key.hex(),
            "counter": self._counter,
            "boot": self._boot,
        }

    @classmethod
    def load(cls, state: dict[str, Any], random: Random) -> "IdSource":
        """Continues a saved sequence; request ids begin a new run, since reads are not saved."""
        source = cls(state["seed"], random)
        source._key = bytes.fromhex(state["key"])
        source._counter = state["counter"]
        source._boot = state["boot"] + 1
        return source

    def _hashed(self, what: str, length: int) -> str:
        digest = hashlib.blake2b(what.encode(), key=self._key, digest_size=64).digest()
        return _base62(digest, length)


def _seed_key(seed: int) -> bytes:
    return hashlib.sha256(f"svc sandbox seed {seed}".encode()).digest()


def _base62(raw: bytes, length: int) -> str:
    if not 0 < length <= _LENGTH_MAX:
        raise ValueError(length)
    number = int.from_bytes(raw, "big")
    digits = []
    for _ in range(length):
        number, digit = divmod(number, 62)
        digits.append(_ALPHABET[digit])
    return "".join(digits)
