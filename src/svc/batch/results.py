"""The results file: one line of JSON for each row of a batch (promises R16, R65, R66).

A run first replaces the file atomically by one with the rows that it does not send: done in earlier
runs, held, invalid. It appends a line
when a row ends, so that a killed run leaves only complete lines. At its end it replaces the file
again: complete, and in the order of the rows.

`run` writes it; `cli.batch.facts` reads that of an earlier run before it plans.
"""

import json
import os
import stat
from array import array
from collections.abc import Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, suppress
from itertools import islice
from pathlib import Path
from shlex import quote
from types import TracebackType
from typing import BinaryIO, Final, NamedTuple, Self

from svc.batch.past_results import PastResults, find_writer, read_lines
from svc.delivery.hints import TypedLine, without_options
from svc.delivery.journal.batches import BatchName
from svc.errors import LocalError, system_words, translate_errors
from svc.system import files

_PIECE: Final = 1_000  # lines that are written at once
_LEFT_SECONDS: Final = 3600
RESULTS_ENDING: Final = ".results.ndjson"
_ELSEWHERE: Final = "Free some space, or name another file with --results"
_ANEW: Final = "run the same command again: done rows are skipped, and the file is written anew"
_AGAIN: Final = f"{_ELSEWHERE}; then {_ANEW}"
_AGAIN_ELSEWHERE: Final = f"Name another file with --results and {_ANEW}"


class ResultLine(NamedTuple):
    """The result of one row.

    Attributes:
        outcome: done, failed, refused, unknown, not_sent or invalid.
        id: the id of the object that was created or changed.
        status: the status of the object in the answer.
        failure_reason: why the object failed, as the service's code.
        replayed: whether the service had carried the request out before this run.
        created: when the service created the object, if it was created.
        error: code, message and other fields, if the row is not done.
        request: the journal's id, for `svc requests show`.
        likeness: the digest of the row's normalised parameters, by which a later run finds it.
        row_id: the row's own id.
        first_sent: when it was sent first (ISO 8601, by this machine's clock).
        world: identifies the state of the sandbox that answered.
        key_fingerprint: the fingerprint of the API key that it was sent with.
        about: the digest of its subject, such as the payment of a refund, by which a later run
            recognises an edited row.
        warnings: differences between the answer and the row that prove no contradiction.
    """

    row: int
    line: int
    outcome: str
    id: str | None = None
    status: str | None = None
    failure_reason: str | None = None
    replayed: bool = False
    created: str | None = None
    error: Mapping[str, object] | None = None
    idempotency_key: str | None = None
    request: str | None = None
    likeness: str | None = None
    row_id: str | None = None
    first_sent: str | None = None
    world: str | None = None
    key_fingerprint: str | None = None
    about: str | None = None
    amount: int | None = None
    warnings: tuple[str, ...] = ()


def failure(
    code: str | None,
    message: str | None,
    param: str | None,
    status: int | None = None,
    request_id: str | None = None,
) -> dict[str, object]:
    """Builds the error of a result line, which always has the same fields."""
    return {
        "code": code,
        "message": message,
        "param": param,
        "status": status,
        "request_id": request_id,
    }


class _WholeLines:
    """An open file of complete lines, one for a row.

    Attributes:
        count: the number of lines.
        end: the position after the last complete line.
        is_in_order: whether the lines have the order of their rows.
    """

    def __init__(self, file: BinaryIO) -> None:
        self.file = file
        self.count = 0
        self.end = 0
        self.is_in_order = True
        self._begins = array("q")  # of each row's line, -1 where it has none

    def __contains__(self, row: int) -> bool:
        return row < len(self._begins) and self._begins[row] >= 0

    def append(self, texts: Mapping[int, bytes]) -> None:
        """Appends the lines of rows."""
        # Over whatever a full disk has left there.
        self.file.seek(self.end)
        self.file.truncate()
        self.file.write(b"".join(texts.values()))
        self.file.flush()
        for row, text in texts.items():
            self.is_in_order = self.is_in_order and row >= len(self._begins)
            self._begins.extend([-1] * (row + 1 - len(self._begins)))
            self._begins[row] = self.end
            self.end += len(text)
            self.count += 1

    def copy_in_order(self, fresh: BinaryIO) -> "_WholeLines":
        """Copies the lines to another file in the order of the rows."""
        copy = _WholeLines(fresh)
        for begin in self._begins:
            copy._begins.append(begin if begin < 0 else copy.end)
            if begin >= 0:
                self.file.seek(begin)
                copy.end += fresh.write(self.file.readline())
        copy.count = self.count
        fresh.flush()
        return copy


class Results:
    """The results file of one run; a context manager that leaves no temporary file behind.

    `line` is the command line of the run, for hints.

    `check` and `begin` raise LocalError if the file cannot be written. After rows have been sent no
    method raises for that: the outcomes of the rows matter more than this file.

    Attributes:
        failure: why the file is incomplete, and how many lines it has; None if it is complete.
    """

    def __init__(self, path: Path, batch: BatchName, line: TypedLine | None = None) -> None:
        self.path = path
        self._line = line
        self._import_id = batch.id
        self._ids = (batch.id,) if batch.label else (batch.id, batch.old_id)
        self._label, self._mode = batch.label, batch.scope.mode
        self._read: os.stat_result | None = None
        # Of this run alone: on a shared folder another machine may run the batch at this moment.
        self._fresh = path.with_name(f".{batch.id}.{os.urandom(4).hex()}.part")
        self._force = False
        self._lines: _WholeLines | None = None
        self._opened: list[BinaryIO] = []
        self._unfinished = False
        self._own: os.stat_result | None = None
        self._published = 0  # the end of the lines that were written with the file
        self.failure: LocalError | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for file in self._opened:
            # On a full disk it tries once more to write what could not be written: that is told.
            with suppress(OSError):
                file.close()
        if self._unfinished:  # else it is of another process, if it is there at all
            with suppress(OSError):
                self._fresh.unlink(missing_ok=True)

    def check(self, *, force: bool) -> None:
        """Checks that the file may be written, before a request is sent.

        Raises:
            LocalError: the file has other content and `force` is not given; or the file is a
                symbolic link or no plain file, or its folder is no folder (promise R65).
        """
        self._force = force
        with self._translate_errors():
            self._check_folder()
            try:
                facts = self.path.lstat()
            except FileNotFoundError:
                return
            if not stat.S_ISREG(facts.st_mode):
                raise LocalError(f"{self.path} is not a regular file.", param="--results")
            if force or not facts.st_size:
                return
            writer, mode = self._read_writer()
        if writer not in self._ids:
            raise self._build_exists(writer, mode)

    def _check_folder(self) -> None:
        folder = self.path.parent
        try:
            is_folder = stat.S_ISDIR(folder.lstat().st_mode)
        except FileNotFoundError:
            raise LocalError(
                f"The folder {folder} of the results file is missing. Nothing was sent.",
                code="results_not_written",
                param="--results",
                hint=f"Make it: mkdir -p {quote(str(folder))}",
            ) from None
        if not is_folder:
            raise LocalError(
                f"{folder} is not a folder of its own.",
                param="--results",
                hint="Name the results file by its real path",
            )

    def _build_exists(self, writer: str | None, mode: str | None) -> LocalError:
        """Builds the error for a file that this run may not replace, because it may be needed.

        That of another batch may be this one's, moved with the file of its rows; it is evidence.
        """
        what = "something else"
        hint = "Name another file with --results, or overwrite it with --force"
        if self._line is not None and mode not in (None, self._mode):
            stem = self.path.name.removesuffix(RESULTS_ENDING)
            own = self.path.with_name(f"{stem}.{self._mode}{RESULTS_ENDING}")
            what = f"the results of a run in {mode} mode, which say nothing of {self._mode} mode"
            hint = f"Keep them, and name another file: {self._line.but('--results', str(own))}"
        elif writer is not None:
            what = f"the results of another batch, {writer}, perhaps of these rows at another path"
            hint = (
                f"If so, have it read, and done rows are skipped: {self._read_as(writer)}; if not, "
                "name another file with --results"
            )
        return LocalError(
            f"{self.path} exists and holds {what}. Nothing was sent.",
            code="results_exist",
            param="--results",
            hint=hint,
        )

    def _read_as(self, writer: str) -> str:
        """The command line that goes on with the batch whose results the file has."""
        if self._line is None:
            return f"--import {writer}"
        plain = without_options(self._line.words, ["--run", "--again", "--force"])
        return self._line._replace(words=tuple(plain)).but(
            "--import", writer, "--results", str(self.path)
        )

    def _read_writer(self) -> tuple[str | None, str | None]:
        """The id and mode of the batch whose results the file has.

        Raises:
            OSError: the file cannot be read.
        """
        handle = files.open_private(self.path, os.O_RDONLY)
        with os.fdopen(handle, "rb") as file:
            return find_writer(file)

    def read_past(self) -> PastResults:
        """Reads the results of an earlier run (R116); raises LocalError: the file is unreadable."""
        with self._translate_errors():
            try:
                handle = files.open_private(self.path, os.O_RDONLY)
            except FileNotFoundError:
                return PastResults()
            with os.fdopen(handle, "rb") as file:
                self._read = os.fstat(file.fileno())
                return read_lines(file, self._ids)

    def _refuse_changed(self) -> None:
        """Refuses to replace a file that has changed since this run has read it (R116)."""
        try:
            facts = self.path.lstat()
        except FileNotFoundError:
            return
        read = self._read
        same = read is not None and (facts.st_ino, facts.st_size, facts.st_mtime_ns) == (
            read.st_ino,
            read.st_size,
            read.st_mtime_ns,
        )
        if facts.st_size and not same and not self._force:
            raise LocalError(
                f"{self.path} has been changed since it was read. Nothing was sent.",
                code="results_changed",
                param="--results",
                hint="Another run may have written it: run the same command again",
            )

    def begin(self, lines: Iterable[ResultLine]) -> None:
        """Replaces the file by one with the rows that are settled already."""
        # Once more: planning takes a while, and another list may have ended there meanwhile.
        self.check(force=self._force)
        self._refuse_changed()
        with self._translate_errors():
            self._lines = _WholeLines(self._create())
            self._write(lines)
            self._publish()

    def _remove_left(self) -> None:
        """Removes what runs that were killed while they began have left an hour ago or more."""
        now = self._fresh.stat().st_mtime
        for old in self._fresh.parent.glob(f".{self._import_id}.*.part"):
            with suppress(OSError):  # another run removes it
                if now - old.stat().st_mtime >= _LEFT_SECONDS:
                    old.unlink()

    def add(self, lines: Iterable[ResultLine]) -> None:
        """Appends the lines of rows that have ended; a row that has a line is skipped.

        After an interruption by a signal the caller adds the same lines again.
        """
        if self._is_to_be_kept:
            with self._keep_what_can_be():
                self._write(lines)

    def finish(self) -> None:
        """Replaces the file by the complete one: every line once, in the order of the rows.

        After an interruption by a signal the caller calls it again.
        """
        if not self._is_to_be_kept:
            return
        if self._is_anothers():
            self.failure = LocalError(
                f"{self.path} holds the results of another run by now, and was left as it is.",
                code="results_not_written",
                param="--results",
                hint=_AGAIN_ELSEWHERE,
            )
            return
        assert self._lines is not None
        is_written = self._lines.is_in_order and self._lines.end == self._published
        if is_written and self._is_in_place():
            return
        with self._keep_what_can_be():
            before = self._lines
            self._lines = before.copy_in_order(self._create())
            before.file.close()
            self._publish()

    @property
    def _is_to_be_kept(self) -> bool:
        """Whether the file was begun and could be written."""
        return self._lines is not None and self.failure is None

    def _write(self, lines: Iterable[ResultLine]) -> None:
        assert self._lines is not None
        fresh = (line for line in lines if line.row not in self._lines)
        while piece := {line.row: self._text(line) for line in islice(fresh, _PIECE)}:
            self._lines.append(piece)

    def _text(self, line: ResultLine) -> bytes:
        shown = {"import": self._import_id, "run": self._label, **line._asdict()}
        return (json.dumps(shown) + "\n").encode("ascii")

    def _is_in_place(self) -> bool:
        """Whether the file at the path is the one that this run writes."""
        try:
            return self._own is not None and os.path.samestat(self.path.lstat(), self._own)
        except OSError:
            return False

    def _is_anothers(self) -> bool:
        """Whether another run has replaced the file meanwhile; False if the file is gone."""
        try:
            facts = self.path.lstat()
            ours = self._own is not None and os.path.samestat(facts, self._own)
            return not (ours or self._read_writer()[0] in self._ids)
        except OSError:
            return False  # what cannot be looked at cannot be written either, and that has words

    def _create(self) -> BinaryIO:
        self._unfinished = True
        handle = files.open_private(self._fresh, os.O_RDWR | os.O_CREAT | os.O_EXCL)
        self._opened.append(os.fdopen(handle, "w+b"))
        self._remove_left()
        return self._opened[-1]

    def _publish(self) -> None:
        assert self._lines is not None
        placed = files.put_open_in_place(self._lines.file, self._fresh, self.path)
        self._opened.append(placed)
        self._lines.file = placed
        self._own = os.fstat(placed.fileno())
        self._published = self._lines.end
        self._unfinished = False

    @contextmanager
    def _keep_what_can_be(self) -> Iterator[None]:
        """Handles an error after rows were sent: complete lines stay, `failure` has the reason."""
        assert self._lines is not None
        try:
            with self._translate_errors(f" It holds {self._lines.count} results.", _AGAIN):
                yield
        except LocalError as error:
            self.failure = error
            self._truncate(self._lines.end)

    def _truncate(self, end: int) -> None:
        """Removes an incomplete line that was left by a full disk."""
        if self._is_anothers():
            return
        with suppress(OSError):
            handle = files.open_private(self.path, os.O_WRONLY)
            try:
                os.ftruncate(handle, end)
            finally:
                os.close(handle)

    def _translate_errors(
        self, held: str = " Nothing was sent.", hint: str = _ELSEWHERE
    ) -> AbstractContextManager[None]:
        def not_written(error: OSError) -> LocalError:
            return LocalError(
                f"The results file {self.path} cannot be written: {system_words(error)}.{held}",
                code="results_not_written",
                param="--results",
                hint=hint,
            )

        return translate_errors(OSError, not_written)
