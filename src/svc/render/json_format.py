"""Prints results for programs: JSON with its original spelling, NDJSON, ids (promise R72).

`output` chooses `Json`, `Ndjson` or `Ids` for `-o json`, `ndjson` and `id`.
"""

from collections.abc import Callable, Iterable
from typing import Any

from svc.render.dump import compact, dump, indent, scalar
from svc.render.printer import Objects, Printer, Write
from svc.render.text import one_line


class Json(Printer):
    """Writes one JSON document, indented by two."""

    def one(self, text: str, data: object) -> None:
        """Prints an object with the service's spelling."""
        del data
        self._write(indent(text) + "\n")

    def page(self, text: str, data: dict[str, Any]) -> None:
        """Prints a list object with the service's spelling."""
        self.one(text, data)

    def stream(self, objects: Objects) -> None:
        """Prints objects as one array while they arrive.

        After an error the array is not closed: an incomplete export must not be valid JSON.
        """
        before = "[\n  "
        try:
            for text, _ in objects:
                self._write(before + indent(text, 1))
                before = ",\n  "
        except Exception:
            self._write("\n")
            raise
        self._write("[]\n" if before.startswith("[") else "\n]\n")

    def value(self, data: object) -> None:
        """Prints a result of svc."""
        self._write(indent(dump(data)) + "\n")


class Ndjson(Printer):
    """Writes one object a line, and each page in one write.

    If a reader such as `head -1` ends after a line, svc then does not fail.
    """

    def __init__(self, write: Write, warn: Write, flush: Callable[[], None]) -> None:
        super().__init__(write, warn)
        self._flush = flush

    def one(self, text: str, data: object) -> None:
        """Prints an object on one line, with the service's spelling."""
        del data
        self._hand_on([compact(text)])

    def page(self, text: str, data: dict[str, Any]) -> None:
        """Prints the objects of a list object."""
        from svc.json_text import parse_list

        del data
        self._hand_on([compact(item) for item in parse_list(text)[1]])

    def stream(self, objects: Objects) -> None:
        """Prints objects as their pages arrive, in constant memory."""
        lines: list[str] = []
        try:
            for text, _ in objects:
                lines.append(compact(text))
                if len(lines) >= self.page_size:
                    self._hand_on(lines)
        finally:
            self._hand_on(lines)

    def value(self, data: object) -> None:
        """Prints a result of svc; each value of a list on a line."""
        self._hand_on([dump(item) for item in (data if isinstance(data, list) else [data])])

    def _hand_on(self, lines: list[str]) -> None:
        if lines:
            text = "\n".join((*lines, ""))
            lines.clear()
            self._write(text)
            self._flush()


class Ids(Printer):
    """Writes one id a line; a plain value, as from --query, is written itself."""

    def stream(self, objects: Objects) -> None:
        """Prints ids as objects arrive."""
        self._print(data for _, data in objects)

    def value(self, data: object) -> None:
        """Prints the ids in a result of svc."""
        self._print(data if isinstance(data, list) else [data])

    def _print(self, items: Iterable[object]) -> None:
        without = 0
        for item in items:
            known = item.get("id") if isinstance(item, dict) else item
            if known is None or isinstance(known, dict | list):
                without += 1
            else:
                self._write((one_line(known) if isinstance(known, str) else scalar(known)) + "\n")
        if without:
            self._warn(f"{without} without an id; -o json shows them")
