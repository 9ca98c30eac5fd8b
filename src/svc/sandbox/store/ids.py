"""Draws ids and secrets: random ones, or with a seed the same sequence each time.

The `engine` has one `IdSource`; transactions draw from it.
"""

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import lru_cache
from typing import Any

ID_LENGTH = 24
_ALPHABET = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
_LETTERS = (_ALPHABET * 5)[:256]  # by byte value
_SURPLUS = bytes(range(4 * len(_ALPHABET), 256))  # left out: they would favour a few letters
_DRAWN = 48  # bytes at a time: enough for an id or a secret in almost every draw
_AT_ONCE = 1024  # random bytes: to ask the system for each id costs more than the id
_KEY_BYTES = 32

Random = Callable[[int], bytes]


class IdSource:
    """Draws ids; with a seed the n-th id is a function of seed and n alone.

    `counter` is n; set back, it takes ids back that were not used, as of a call that failed. It is
    part of the saved state, so that a restart continues the sequence. Ids that depend on the
    network's timing are derived from what they name instead of the counter: the sequence of the
    counter then depends on nothing but the calls.
    """

    def __init__(self, seed: int | None, random: Random) -> None:
        self._random = random
        self.seed = seed
        fixed = f"svc sandbox seed {seed}".encode()
        self._key = random(_KEY_BYTES) if seed is None else hashlib.sha256(fixed).digest()
        self.counter = 0
        self._requests = 0
        self._boot = 0
        self._given: dict[str, list[str]] = {}
        self._ready = ""  # letters that were drawn and not given out
        # The same key asks again and again, and its id is derived from it.
        self._derived = lru_cache(self._hash)

    @contextmanager
    def prescribe(self, names: Mapping[str, Sequence[str]]) -> Iterator[None]:
        """Uses these ids first, by their prefix and in their order, before drawn ones."""
        self._given = {prefix: list(ids) for prefix, ids in names.items()}
        try:
            yield
        finally:
            self._given = {}

    def new(self, prefix: str, length: int = ID_LENGTH) -> str:
        """Prefix and `length` characters of `[0-9A-Za-z]`."""
        if self._given.get(prefix):
            return prefix + self._given[prefix].pop(0)
        if self.seed is None:
            return prefix + self._random_letters(length)
        self.counter += 1
        return prefix + self._hash(f"new:{self.counter}", length)

    def derive(self, prefix: str, *parts: object) -> str:
        """The one id that belongs to these parts in this sandbox."""
        return prefix + self._derived("derived:" + ":".join(map(str, parts)), ID_LENGTH)

    def request(self) -> str:
        """An id for one HTTP exchange, from a sequence of its own that reads do not disturb."""
        if self.seed is None:
            return "req_" + self._random_letters(ID_LENGTH)
        self._requests += 1
        return "req_" + self._hash(f"request:{self._boot}:{self._requests}", ID_LENGTH)

    def dump(self) -> dict[str, Any]:
        """The state to save."""
        return {
            "seed": self.seed,
            "key": self._key.hex(),
            "counter": self.counter,
            "boot": self._boot,
        }

    def load(self, state: dict[str, Any]) -> "IdSource":
        """Returns what goes on with a saved sequence, with request ids of a run of their own.

        Raises:
            KeyError, TypeError, ValueError: it is no saved state.
        """
        seed, numbers = state["seed"], (state["counter"], state["boot"])
        if any(type(number) is not int or number < 0 for number in numbers):
            raise ValueError("the ids were counted to no number")
        if seed is not None and type(seed) is not int:
            raise ValueError("the seed is no number")
        source = IdSource(seed, self._random)
        source._key = bytes.fromhex(state["key"])
        source.counter = state["counter"]
        source._boot = state["boot"] + 1
        return source

    def _hash(self, what: str, length: int) -> str:
        def draw(turn: int) -> bytes:
            text = f"{what}:{turn}".encode()
            return hashlib.blake2b(text, key=self._key, digest_size=_DRAWN).digest()

        return _letters(draw, length)[:length]

    def _random_letters(self, length: int) -> str:
        if len(self._ready) < length:
            self._ready = _letters(lambda _: self._random(_AT_ONCE), length)
        given, self._ready = self._ready[:length], self._ready[length:]
        return given


def _letters(draw: Callable[[int], bytes], length: int) -> str:
    """Turns bytes into letters and digits, all equally likely; draws until so many are there."""
    letters, turn = b"", 0
    while len(letters) < length:
        letters += draw(turn).translate(_LETTERS, _SURPLUS)
        turn += 1
    return letters.decode()
