"""Makes text from outside safe for a terminal, as one short line.

`reply`, `refusal` and other modules pass texts of an answer through it before they stand in an
error.
"""

import re

from svc.redaction import UNSAFE, is_plain

# Enough for a long sentence; the whole body of an error page does not help.
LINE_MAX = 300


def one_line(text: str, limit: int = LINE_MAX) -> str:
    """Removes control, bidirectional and invisible characters, joins blanks, cuts at `limit`."""
    # Cut first: an error body may have megabytes.
    shown = " ".join(text[: limit * 8].split())
    line = shown if is_plain(shown) else " ".join(re.sub(UNSAFE, "", shown).split())
    return line if len(line) <= limit else line[: limit - 1].rstrip() + "…"


def without_tags(text: str) -> str:
    """Removes tags in angle brackets, so that an HTML error page is readable text."""
    parts = text.split("<")
    return " ".join([parts[0], *(part.partition(">")[2] for part in parts[1:])])
