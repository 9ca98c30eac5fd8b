"""Reads the results file of an earlier run, before a run plans and replaces it (promise R116).

`Results.read_past` calls it: an open file in, a `PastResults` out, from which `cli.batch.facts`
takes the evidence of the batch.
"""

import json
import re
from collections.abc import Collection, Sequence
from io import BytesIO
from itertools import islice
from typing import BinaryIO, Final, NamedTuple

from svc.clock import seconds_of
from svc.delivery.evidence import DONE_BY_HAND, Evidence, read_outcome
from svc.delivery.gathering import build_evidence, flatten_evidence
from svc.system.spool import Spool

_LOOKED_AT: Final = 1_000  # lines in which a batch is looked for
_LINE_MAX: Final = 64 * 1024
# In whatever form: a spreadsheet has saved it as CSV.
_WRITER: Final = re.compile(rb"\b(imp_[0-9a-z]{20})\b")
_MODE: Final = re.compile(rb'"key_fingerprint":\s*"[a-z]{2}_(live|test)_')
_OUTCOMES: Final = ("done", "failed", "refused", "unknown", "not_sent", "invalid")
_TELLING: Final = ("done", "failed", "unknown")  # the row was sent, or may have been


class _DamagedLineError(Exception):
    """A line is valid JSON and was not written by a run."""


class PastResults(NamedTuple):
    """The content of the results file of an earlier run of the batch.

    Attributes:
        is_old: whether it is of an older version, whose lines have too few facts for a decision.
        damaged: how many lines cannot be read, without the last line of a killed run.
        is_torn: whether a kill or a full disk has cut off the last line.
        newest: the latest time of a line (Unix seconds); 0 without lines.
        begun: the earliest time of a line, also of a row that was not sent; None without times.
        others: the lines of another batch, which is to be overwritten.
        other: the id of that batch.
    """

    lines: Sequence[Evidence] = ()
    is_old: bool = False
    damaged: int = 0
    is_torn: bool = False
    newest: float = 0.0
    begun: float | None = None
    others: Sequence[Evidence] = ()
    other: str | None = None


def find_writer(file: BinaryIO) -> tuple[str | None, str | None]:
    """Finds the id and mode of the batch that has written a file; None for what no line tells.

    Lines that are damaged or cut off tell it as well.
    """
    batch = mode = None
    for text in islice(iter(lambda: file.readline(_LINE_MAX), b""), _LOOKED_AT):
        batch, mode = batch or _WRITER.search(text), mode or _MODE.search(text)
        if batch and mode:
            break
    return batch and batch[1].decode(), mode and mode[1].decode()


def read_lines(file: BinaryIO, ids: Collection[str]) -> PastResults:
    """Reads the lines of an open file; `ids` are those of the batch, also in an older version."""
    found, others = Spool(build_evidence), Spool(build_evidence)
    is_old, is_torn, damaged, newest, other = False, False, 0, 0.0, None
    begun: float | None = None
    for text in file:
        try:
            writer, at, line = _parse(text, ids)
        except (ValueError, _DamagedLineError):
            is_cut = not text.endswith(b"\n")  # else no kill and no full disk has done it
            damaged += not is_cut
            is_torn = is_cut and (len(found) > 0 or find_writer(BytesIO(text))[0] in ids)
            continue
        if at and writer in ids:
            begun = min(begun or at, at)
        if line is None:
            continue
        if writer not in ids:
            other = other or writer
            others.append(flatten_evidence(line))
            continue
        found.append(flatten_evidence(line))
        is_old = is_old or not (line.at and line.alike)
        newest = max(newest, line.at)
    return PastResults(found, is_old, damaged, is_torn, newest, begun, others, other)


def _parse(text: bytes, ids: Collection[str]) -> tuple[str | None, float, Evidence | None]:
    """Parses a line to the id of its batch, its time and its row; None for a row that was not sent.

    Raises:
        ValueError, _DamagedLineError: no run of this batch has written the line.
    """
    line = json.loads(text)
    if not isinstance(line, dict):
        raise _DamagedLineError
    key, outcome, error = line.get("idempotency_key"), line.get("outcome"), line.get("error")
    code = error.get("code") if isinstance(error, dict) else None
    writer = line.get("import")
    if not isinstance(writer, str):
        return None, 0.0, None
    if outcome not in _OUTCOMES or not isinstance(code, str | None):
        return _refuse_own(writer, ids)
    at = seconds_of(str(line.get("first_sent"))) or 0.0
    is_by_hand = code == DONE_BY_HAND and line.get("first_sent") is not None
    if outcome not in _TELLING and not is_by_hand:
        return writer, at, None
    if not isinstance(key, str):
        return _refuse_own(writer, ids)
    row = line.get("row")
    found = Evidence(
        read_outcome(outcome, code),
        "",
        key,
        at,
        None,
        line.get("id"),
        line.get("request"),
        line.get("world"),
        line.get("key_fingerprint") or "",
        line.get("likeness") or "",
        row if isinstance(row, int) else None,
        line.get("row_id"),
        line.get("about"),
    )
    return writer, at, found


def _refuse_own(writer: str, ids: Collection[str]) -> tuple[str, float, None]:
    """Refuses a damaged line of this batch; of another batch's it is left out."""
    if writer in ids:
        raise _DamagedLineError
    return writer, 0.0, None
