"""Prints the findings of `svc sandbox compare`: by result for people, one object for programs.

`compare` makes a `ComparisonReport` of the findings of `judging`, prints it by `show` and ends with
`conclude`, which raises CheckFailed (exit code 11) where a row differs.
"""

import json
from collections.abc import Iterator
from itertools import groupby
from typing import TYPE_CHECKING, Any, Final

from svc.cli.sandbox.compare.asking import Inquiry
from svc.cli.sandbox.compare.judging import DIFFERENT, HELD, UNKNOWN
from svc.clock import utc
from svc.errors import CheckFailed

if TYPE_CHECKING:
    from svc.render.output import Output

_NAMED_MAX: Final = 5
_HINT: Final = "A sandbox that behaves so: add --save, then svc sandbox start --like PROFILE"

_MORE: Final = (
    "To be told more: pay an order in test mode, refund a part of it, and compare once more."
)


class ComparisonReport:
    """The findings of a comparison, the objects it created, and the sandbox settings to match."""

    def __init__(
        self, profile: str, origin: str, inquiry: Inquiry, findings: list[dict[str, Any]]
    ) -> None:
        self.profile = profile
        self._origin = origin
        self.findings = findings
        self.objects = inquiry.objects()
        self.unsettled = [
            {"request": each.target, "idempotency_key": each.key}
            for each in inquiry.exchanges.values()
            if each.is_open and each.asked.creates
        ]
        self.settings: dict[str, Any] = {}
        for each in self._of(DIFFERENT):
            self.settings.update(each["setting"] or {})

    def _of(self, result: str) -> list[dict[str, Any]]:
        return [each for each in self.findings if each["result"] == result]

    def as_data(self, now: float) -> dict[str, Any]:
        """Returns the whole comparison as one JSON object."""
        return {
            "object": "comparison",
            "profile": self.profile,
            "origin": self._origin,
            "compared_at": utc(now),
            "held": len(self._of(HELD)),
            "different": len(self._of(DIFFERENT)),
            "unknown": len(self._of(UNKNOWN)),
            "settings": self.settings,
            "objects": self.objects,
            "unsettled": self.unsettled,
            "findings": self.findings,
        }

    def show(self, out: "Output", data: dict[str, Any]) -> None:
        """Prints `data` as JSON, each finding as a row (ndjson, csv), or text for people."""
        if out.format == "human":
            self._show(out)
        elif out.format == "json":
            out.value(data)
        else:
            out.stream((json.dumps(each), each) for each in self.findings)
            out.note(f"Made in test mode ({len(self.objects)}): {', '.join(self.objects)}")
        for each in () if out.format == "json" else self.unsettled:
            key = each["idempotency_key"]
            out.warn(f"{each['request']} may have made an object: no answer came. Its key: {key}")

    def _show(self, out: "Output") -> None:
        """Prints the differences in full, why rows cannot be told, and what was made."""
        different = self._of(DIFFERENT)
        if different:
            out.line(f"DIFFERENT ({len(different)})")
        for each in different:
            for line in _lines(each):
                out.words(line)
        unknown = sorted(self._of(UNKNOWN), key=lambda each: str(each["reason"]))
        if unknown:
            out.line(f"CANNOT BE TOLD ({len(unknown)})")
        for reason, group in groupby(unknown, key=lambda each: str(each["reason"])):
            out.words(f"  {reason[0].upper()}{reason[1:]}:")
            out.words(f"    {', '.join(each['name'] for each in group)}")
        held = len(self._of(HELD))
        out.words(f"Held: {held}, different: {len(different)}, cannot be told: {len(unknown)}.")
        if any("brought no" in str(each["reason"]) for each in unknown):
            out.words(_MORE)
        if self.objects:
            out.words(f"Made in test mode ({len(self.objects)}): {', '.join(self.objects)}")

    def conclude(self, *, saved: bool) -> None:
        """Raises CheckFailed if a row differs, or if no row could be judged."""
        different = self._of(DIFFERENT)
        if different:
            names = ", ".join(each["name"] for each in different[:_NAMED_MAX])
            more = f" and {len(different) - _NAMED_MAX} more" if len(different) > _NAMED_MAX else ""
            raise CheckFailed(
                f"{self._origin} differs from the sandbox in {len(different)} of "
                f"{len(self.findings)} rows: {names}{more}.",
                code="assumptions_differ",
                hint=None if saved or not self.settings else _HINT,
            )
        if not self._of(HELD):
            raise CheckFailed(
                f"Nothing could be told of {self._origin}.", code="assumptions_not_told"
            )


def _lines(found: dict[str, Any]) -> Iterator[str]:
    mark = "the specification says" if found["mark"] == "says" else "chosen"
    yield f"  {found['name']} ({mark}): {found['what']}"
    yield f"    {found['request']}" + (f"  {_text(found['sent'])}" if found["sent"] else "")
    yield f"    sandbox: {_text(found['expected'])}"
    answer = found["answer"] or {}
    said = " ".join(str(answer[name]) for name in ("status", "code", "message") if name in answer)
    yield f"    service: {_text(found['answered'])}  ({said})"
    yield f"    {found['means']}"
    for name, value in (found["setting"] or {}).items():
        word = value if isinstance(value, str) else _text(value)
        yield f"    A sandbox that does so: svc sandbox settings {name}={word}"


def _text(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)
