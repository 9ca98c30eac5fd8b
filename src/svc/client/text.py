"""Text from outside as one short line that can do a terminal no harm."""

# C0, DEL and C1, invisible, bidirectional, lone surrogates (promise R61).
_HARMFUL = (
    range(0x20),
    range(0x7F, 0xA0),
    range(0x200B, 0x2010),
    range(0x202A, 0x202F),
    range(0x2060, 0x2070),
    range(0xFEFF, 0xFF00),
    range(0xD800, 0xE000),
)
# Enough for a long sentence; the whole body of an error page helps nobody.
LINE_MAX = 300


def one_line(text: str, limit: int = LINE_MAX) -> str:
    """Drops control, bidirectional and invisible characters, joins white space, cuts at `limit`."""
    # Cut first: an error body may have megabytes.
    shown = "".join(_kept(mark) for mark in text[: limit * 8])
    line = " ".join(shown.split())
    return line if len(line) <= limit else line[: limit - 1].rstrip() + "…"


def without_tags(text: str) -> str:
    """Drops what stands in angle brackets, so that an HTML error page leaves its words."""
    parts = text.split("<")
    return " ".join([parts[0], *(part.partition(">")[2] for part in parts[1:])])


def _kept(mark: str) -> str:
    number = ord(mark)
    if mark.isspace():
        return " "
    return "" if any(number in kind for kind in _HARMFUL) else mark
