"""The same JSON as common encoders would have written it, to find the one that was signed."""

import json
import re
from collections.abc import Iterator, Sequence
from typing import Final

_TOKEN: Final = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"|[{}\[\],:]|[^\s{}\[\],:"]+|\S', re.DOTALL)
_DEEPEST: Final = 64  # hostile nesting must not make the text grow with its square

# Between entries, behind a colon, one level of indent; in words.
_LAYOUTS: Final = (
    (",", ":", None, "without spaces"),
    (", ", ": ", None, "on one line with spaces"),
    (",", ": ", "  ", "indented by two"),
    (",", ": ", "    ", "indented by four"),
    (",", ": ", "\t", "indented by tabs"),
)
_HTML: Final = {"<": "\\u003c", ">": "\\u003e", "&": "\\u0026"}


def respelled(text: str) -> Iterator[tuple[bytes, str]]:
    """Gives a JSON document in other layouts and escapes, each with words for its layout.

    Key order and numbers stay as they are spelled. A text that is no JSON gives something useless.
    """
    tokens = _TOKEN.findall(text)
    for spelled in _spellings(tokens):
        for item, colon, step, words in _LAYOUTS:
            again = _laid_out(spelled, item, colon, step).encode("utf-8", "surrogatepass")
            yield again, words
            yield again + b"\n", f"{words} and with a line feed at its end"


def _spellings(tokens: Sequence[str]) -> Iterator[tuple[str, ...]]:
    """Gives the tokens as they are, and with the escapes of other encoders, each form once."""
    seen = {tuple(tokens): None}
    for ascii_only in (False, True):
        for slashes in (False, True):
            for html in (False, True):
                seen[tuple(_escaped(one, ascii_only, slashes, html) for one in tokens)] = None
    yield from seen


def _escaped(token: str, ascii_only: bool, slashes: bool, html: bool) -> str:  # noqa: FBT001  three of a kind
    if not token.startswith('"'):
        return token
    try:
        text = json.dumps(json.loads(token, strict=False), ensure_ascii=ascii_only)
    except ValueError:
        return token
    if slashes:
        text = text.replace("/", "\\/")
    for char, escape in _HTML.items() if html else ():
        text = text.replace(char, escape)
    return text


def _laid_out(tokens: Sequence[str], item: str, colon: str, step: str | None) -> str:
    out: list[str] = []
    level = 0
    before = ""
    marks = {",": item, ":": colon}
    for token in tokens:
        closes = token in ("}", "]")
        level += (before in ("{", "[")) - closes
        if step is not None and _breaks(before, closes=closes):
            out.append("\n" + step * min(level, _DEEPEST))
        out.append(marks.get(token, token))
        before = token
    return "".join(out)


def _breaks(before: str, *, closes: bool) -> bool:
    """Says whether a line ends behind a token; an empty object or array stays together."""
    opened = before in ("{", "[")
    if closes:
        return not opened
    return opened or before == ","
