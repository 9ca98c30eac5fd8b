"""What a page of the inspector is to whoever uses it: its texts line by line, links, fields, folds."""

from html.parser import HTMLParser
from typing import Final

_BLOCKS: Final = frozenset(
    "details div footer form h1 h2 h3 html li link main nav p pre title".split()
)
_ADDRESSES: Final = frozenset(("href", "src", "action", "data-root"))
_SHOWN: Final = frozenset(
    "value checked hidden placeholder method lang defer tabindex aria-current aria-invalid".split()
)


class _SeenReader(HTMLParser):
    def __init__(self, root: str) -> None:
        super().__init__()
        self._root = root
        self.lines: list[str] = [""]
        self._leaves_out = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in _BLOCKS and self.lines[-1]:
            self.lines.append("")
        given = dict(attrs)
        # Of a choice, what is chosen; where nothing is, the first one.
        self._leaves_out = tag == "option" and given["value"] != "" and "selected" not in given
        if tag == "details":
            self._add("▾" if "open" in given else "▸")
        for name, value in attrs:
            if name in _ADDRESSES:
                self._add(f"[{(value or '').removeprefix(self._root)}]")
            elif name in _SHOWN and tag not in ("option", "h2", "pre"):
                self._add(f"{{{name}}}" if value is None else f"{{{name} {value}}}")
            elif name == "name":
                self._add(f"{value}:")
            elif name in ("role", "aria-label", "aria-live"):
                self._add(f"{value}")

    def handle_data(self, data: str) -> None:
        if not self._leaves_out and data.strip():
            self._add(" ".join(data.split()))

    def _add(self, text: str) -> None:
        self.lines[-1] = f"{self.lines[-1]} {text}".strip()


def seen(page: str, root: str) -> list[str]:
    """Reads a page whose addresses begin with `root`."""
    reader = _SeenReader(root)
    reader.feed(page)
    return reader.lines
