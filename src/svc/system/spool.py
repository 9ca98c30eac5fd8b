"""Collections for millions of rows: a sequence in a temporary file, and compact digests.

`svc batch` keeps in a `Spool` the rows of its file, the lines of its results file and its records
of earlier requests. Rows with one digest have the same parameters: `Digests` tells whether a digest
occurs twice, and `DigestIndex` finds the earlier requests with the digest of a row. `svc sandbox
import` keeps the rows of a state file in a `Spool` until all have come.
"""

import io
import marshal
from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from hashlib import sha256
from typing import Any, BinaryIO, Final, TypeVar, overload

from svc.errors import LocalError, system_words, translate_errors

T = TypeVar("T")

TEMPORARY_FULL: Final = "temporary_full"  # the code of a LocalError
_GROUP: Final = 256  # records that are written and read at once
_MEMORY_MAX: Final = 4 * 1024 * 1024  # bytes; what is more goes to the disk
_WIDTH: Final = 16  # bytes of a digest
_DIGITS: Final = 2 * _WIDTH
_BUCKETS: Final = 256
_SLOTS: Final = 1024  # of an index at first; a power of two


class Spool(Sequence[T]):
    """An append-only sequence of tuples of text, bytes and numbers.

    `make` builds an entry from a tuple. `group` entries are written and read at once: few where
    entries are read in any order. A large sequence is stored in an unnamed file in the folder
    for temporary files, which no other user can open and which ends with the process.

    Raises:
        LocalError: the disk of that folder is full.
    """

    def __init__(self, make: Callable[[Any], T], group: int = _GROUP) -> None:
        self._make = make
        self._group = group
        self._last: list[tuple[object, ...]] = []  # the group that is not full
        self._file: BinaryIO = io.BytesIO()
        self._ends = array("Q", [0])
        self._read: tuple[int, list[T]] = (-1, [])

    def append(self, record: Iterable[object]) -> None:
        """Adds an entry at the end."""
        self._last.append(tuple(record))
        if len(self._last) == self._group:
            self._write(marshal.dumps(self._last))
            self._last = []

    def __len__(self) -> int:
        return (len(self._ends) - 1) * self._group + len(self._last)

    def __iter__(self) -> Iterator[T]:
        for number in range(len(self._ends)):
            yield from map(self._make, self._records(number))

    @overload
    def __getitem__(self, index: int, /) -> T: ...
    @overload
    def __getitem__(self, index: slice, /) -> Sequence[T]: ...
    def __getitem__(self, index: int | slice, /) -> T | Sequence[T]:
        """The entry at an index; neighbouring entries one after another are fast."""
        if isinstance(index, slice):
            return [self[one] for one in range(*index.indices(len(self)))]
        number, place = divmod(index, self._group)
        if number == len(self._ends) - 1:
            return self._make(self._last[place])
        if self._read[0] != number:
            self._read = number, [self._make(one) for one in self._records(number)]
        return self._read[1][place]

    def __del__(self) -> None:
        self._file.close()

    def _records(self, number: int) -> list[tuple[object, ...]]:
        if number == len(self._ends) - 1:
            return self._last
        begin, end = self._ends[number : number + 2]
        with translate_errors(OSError, _not_kept):
            self._file.seek(begin)
            found: list[tuple[object, ...]] = marshal.loads(self._file.read(end - begin))  # noqa: S302  ours
        return found

    def _write(self, data: bytes) -> None:
        end = self._ends[-1] + len(data)
        with translate_errors(OSError, _not_kept):
            if end > _MEMORY_MAX and isinstance(self._file, io.BytesIO):
                with self._file.getbuffer() as kept:  # released where there is no room as well
                    self._file = _file_without_name(kept)
            self._file.seek(self._ends[-1])
            self._file.write(data)
        self._ends.append(end)


def _file_without_name(data: memoryview) -> BinaryIO:
    from tempfile import TemporaryFile

    file: Any = TemporaryFile()  # noqa: SIM115  it ends with the process
    file.write(data)
    return file  # type: ignore[no-any-return]


def _not_kept(error: OSError) -> LocalError:
    return LocalError(
        f"The folder for temporary files cannot be used: {system_words(error)}.",
        code=TEMPORARY_FULL,
        hint="Free some space there, or name another folder by the variable TMPDIR",
    )


class Digests:
    """A multiset of digests of 32 hexadecimal digits, 16 bytes each; other texts are hashed."""

    def __init__(self, digests: Iterable[str] = ()) -> None:
        self._buckets = [bytearray() for _ in range(_BUCKETS)]
        self._repeated: set[bytes] | None = None
        for digest in digests:
            self.add(digest)

    def add(self, digest: str) -> None:
        """Adds a digest, which may be present already."""
        packed = _pack(digest)
        self._buckets[packed[0]] += packed
        self._repeated = None

    def __iter__(self) -> Iterator[str]:
        """Yields each different digest once, in order."""
        for bucket in filter(None, self._buckets):
            yield from (packed.hex() for packed in sorted(set(_slices(bucket))))

    def repeats(self, digest: str) -> bool:
        """Whether a digest was added more than once."""
        if self._repeated is None:
            self._repeated = set()
            for bucket in filter(None, self._buckets):
                seen: set[bytes] = set()
                for packed in _slices(bucket):
                    (self._repeated if packed in seen else seen).add(packed)
        return bool(self._repeated) and _pack(digest) in self._repeated


class DigestIndex:
    """Finds numbers by the digests that they were added under; 20 to 36 bytes each.

    A hash table with open addressing: a digest's first bytes are as good as a hash of it. It has
    one slot for each different digest, however many numbers were added under it.
    """

    def __init__(self) -> None:
        self._digests = bytearray()  # in the order of adding
        self._count = 0
        self._numbers: array[int] | None = None  # of each place, unless it is the place itself
        self._before: array[int] | None = None  # the place before with the same digest; 0: none
        # The last place of a digest, from 1; 0 is free.
        self._table = array("I", bytes(4 * _SLOTS))

    def add(self, digest: str, number: int) -> None:
        """Adds a number below 2**32 under a digest, which may have other numbers already."""
        packed = _pack(digest)
        if self._numbers is None and number != self._count:
            self._numbers = array("I", range(self._count))
        if self._numbers is not None:
            self._numbers.append(number)
        self._digests += packed
        if self._before is not None:
            self._before.append(0)
        self._count += 1
        if 3 * self._count > 2 * len(self._table):
            self._table = array("I", bytes(8 * len(self._table)))
            for place in range(1, self._count):
                packed_there = self._digests[(place - 1) * _WIDTH : place * _WIDTH]
                self._table[self._find_slot(packed_there)] = place
        slot = self._find_slot(packed)
        if before := self._table[slot]:
            if self._before is None:
                self._before = array("I", bytes(4 * self._count))
            self._before[-1] = before
        self._table[slot] = self._count

    def __contains__(self, digest: str) -> bool:
        """Whether any number was added under a digest."""
        return self._table[self._find_slot(_pack(digest))] > 0

    def find(self, digest: str) -> list[int]:
        """The numbers that were added under a digest, in that order."""
        return [*self._walk(digest)][::-1]

    def find_last(self, digest: str) -> int | None:
        """The number that was added last under a digest, or None."""
        return next(self._walk(digest), None)

    def _walk(self, digest: str) -> Iterator[int]:
        """Yields the numbers that were added under a digest, the last one first."""
        place = self._table[self._find_slot(_pack(digest))]
        while place:
            yield place - 1 if self._numbers is None else self._numbers[place - 1]
            place = 0 if self._before is None else self._before[place - 1]

    def _find_slot(self, packed: bytes | bytearray) -> int:
        """The slot of a digest, or the free one where it belongs."""
        table, digests, mask = self._table, self._digests, len(self._table) - 1
        slot = int.from_bytes(packed[:8], "big") & mask
        while place := table[slot]:
            end = place * _WIDTH
            if digests[end - _WIDTH : end] == packed:
                break
            slot = slot + 1 & mask
        return slot


def _slices(bucket: bytearray) -> Iterator[bytes]:
    return (bytes(bucket[at : at + _WIDTH]) for at in range(0, len(bucket), _WIDTH))


def _pack(digest: str) -> bytes:
    if len(digest) == _DIGITS:
        try:
            packed = bytes.fromhex(digest)
        except ValueError:
            packed = b""
        if len(packed) == _WIDTH:
            return packed
    return sha256(digest.encode("utf-8", "surrogatepass")).digest()[:_WIDTH]
