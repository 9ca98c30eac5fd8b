"""A delivery as a curl command that sends the same bytes."""

import shlex
from typing import Final

from svc.listen.archive import Content
from svc.listen.framing import Header
from svc.listen.inspector.shown import header_lines, raw
from svc.render.text import escape

_INLINE_MAX: Final = 64 * 1024


def curl(event_id: str, url: str | None, headers: bytes, content: Content) -> str:
    """Writes the command; without a `url` it reads one from $TARGET.

    A body that holds a secret, or something a terminal might act on, is not written into it but
    read from the inbox.
    """
    words = ["curl", "-sS", "-i", "-X", "POST", shlex.quote(url) if url else '"$TARGET"']
    for pair in header_lines(headers):
        words += ["-H", shlex.quote(_header(pair))]
    body = _harmless(content.body)
    if body is not None:
        return " ".join([*words, "--data-raw", shlex.quote(body)])
    source = f"svc events inbox show {event_id} -o json --query payload_base64 | tr -d '\"' "
    return source + " ".join(["| base64 -d |", *words, "--data-binary", "@-"])


def _header(pair: Header) -> str:
    name, value = pair
    return f"{name.decode('latin-1')}: {value.decode('latin-1')}"


def _harmless(body: bytes) -> str | None:
    try:
        text = body.decode()
    except UnicodeDecodeError:
        return None
    if len(body) > _INLINE_MAX or escape(text) != text or raw(body) != text:
        return None
    return text
