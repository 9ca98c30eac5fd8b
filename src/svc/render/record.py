"""One object while it is shown: its values, and which of them have been shown already."""

from collections.abc import Iterator
from typing import Any, Self

from svc.render.fieldpaths import Path, lookup


class Record:
    """Reads values by path; what was never asked for, and is still shown, is left for the end.

    `outer` is the object around this one, for what an inner one leaves out, like its currency.
    """

    def __init__(self, data: dict[str, Any], outer: Self | None = None) -> None:
        self.data = data
        self.depth: int = outer.depth + 1 if outer else 0
        self._outer = outer
        self._seen: set[Path] = set()

    def inner(self, path: Path, data: dict[str, Any]) -> "Record":
        """Opens the object at a path; what was shown of it before is not shown again."""
        record = Record(data, self)
        below = (seen[len(path) :] for seen in self._seen if seen[: len(path)] == path)
        record._seen.update(filter(None, below))
        return record

    @property
    def of_service(self) -> bool:
        """Says whether this is an object of the service, or inside one."""
        return "object" in self.data or bool(self._outer and self._outer.of_service)

    def take(self, path: str | Path) -> object:
        """Gives the value at a dotted or ready path and counts it as shown."""
        parts = ready(path)
        self._seen.add(parts)
        return lookup(self.data, parts)

    def near(self, path: str | Path) -> object:
        """Gives the value at a path of this object, or else of the outer one."""
        value = self.take(path)
        return self._outer.near(path) if value is None and self._outer else value

    def rest(self) -> Iterator[tuple[Path, object]]:
        """Yields what nobody asked for, in the service's order."""
        yield from self._rest(self.data, ())

    def _rest(self, data: dict[str, Any], above: Path) -> Iterator[tuple[Path, object]]:
        for key, value in data.items():
            path = (*above, str(key))
            if path in self._seen:
                continue
            if isinstance(value, dict) and any(seen[: len(path)] == path for seen in self._seen):
                yield from self._rest(value, path)
            else:
                yield path, value


def ready(path: str | Path) -> Path:
    """Splits a dotted path."""
    return tuple(path.split(".")) if isinstance(path, str) else path
