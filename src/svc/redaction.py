"""Masks secrets in text (R39), and finds characters that act on a terminal (R61).

`render.writer` passes everything that is printed through a `Redactor`, which knows the key in use;
`delivery.journal`, `listen` and bug reports call `redact` before they store or show text that may
hold a secret. `UNSAFE` is the pattern that `render` escapes characters by; `client` and others pass
texts of an answer through `one_line` before they stand in an error.
"""

import re
from collections.abc import Callable
from typing import Final

from svc.service.facts import KEY_PREFIXES_IN_BASE64

# No word boundary before a prefix: a server may echo a key behind any character.
# What is masked already, as in a fingerprint, stays as it is.
# Bounded, so that a long run of anything takes linear time.
# Each begins with what must be in a text, in lower case: most texts hold nothing of the kind, and
# compiling the patterns takes a millisecond, which is a short command's fiftieth.
_PREFIXED: Final[tuple[tuple[tuple[str, ...], str], ...]] = (
    (("k_",), r"((?:sk|rk|pk)_(?:test|live)_)(?!…)([^\s\"',;&<>\\]+)"),
    (("whsec_",), r"(whsec_)(?!…)([^\s\"',;&<>\\]+)"),
    (("logkey_",), r"(logkey_)(?!…)([^\s\"',;&<>\\]+)"),
    (("_secret_",), r"(ord_[0-9A-Za-z]+_secret_)([0-9A-Za-z]+)"),
)
# What a message writes for a user to fill in is no credential.
_PLACEHOLDER: Final = r"(?!USER:PASSWORD@[^@\s]*(?:\s|$))"
_HIDDEN: Final[tuple[tuple[tuple[str, ...], str, str], ...]] = (
    (("basic", "bearer"), r"(?i)\b((?:basic|bearer)\s+)([A-Za-z0-9+/=._~-]{6,})", r"\1…"),
    (("@",), rf"(?i)(\b[a-z][a-z0-9+.-]{{0,31}}://){_PLACEHOLDER}([^/\s]{{1,1024}})@", r"\1…@"),
    (("@",), r"(?<![\w@/])[^\s:/@\"']{1,256}:[^\s/@\"']{1,256}@(?=[\w.-])", "…@"),
    # To the prefix's end: of its first letters alone, an id may have the base64 by chance.
    (
        tuple(each.lower() for each in KEY_PREFIXES_IN_BASE64),
        rf"(?:{'|'.join(KEY_PREFIXES_IN_BASE64)})[A-Za-z0-9+/]{{2,}}={{0,2}}",
        "…",
    ),
)
_MARKS: Final = tuple(mark for marks, *_ in (*_PREFIXED, *_HIDDEN) for mark in marks)
_PIECE: Final = 64 * 1024
_TAIL: Final = 4
_SHORTEST_TAIL: Final = 12  # of a shorter secret, four characters would be too much of it
# Promise R61 names the first four: controls, bidi controls, zero-width characters, surrogates.
# Those of the last line hide, split or reorder text in the same way: Arabic letter mark, line
# separators, soft hyphen, Mongolian vowel separator, deprecated format characters, byte order mark,
# annotations, tags, and the fillers of Hangul, which are letters without a shape.
_FILLERS: Final = "\u115f\u1160\u3164\uffa0"
UNSAFE: Final = (
    "[\x00-\x08\x0b-\x1f\x7f-\x9f"
    "\u202a-\u202e\u2060-\u2069"
    "\u200b-\u200f"
    "\ud800-\udfff"
    "\u061c\u2028\u2029\u206a-\u206f\ufeff\ufff9-\ufffb\U000e0000-\U000e007f"
    f"\u00ad\u180e{_FILLERS}]"
)


def is_plain(text: str) -> bool:
    """A quick proof that text holds neither UNSAFE characters nor tabs and line feeds.

    All of them are unprintable, but for the fillers: the expression is compiled only where one is.
    """
    return text.isprintable() and (text.isascii() or not any(map(text.__contains__, _FILLERS)))


def rewrite(pattern: str, form: Callable[[str], str], text: str) -> str:
    """Replaces each character that a pattern matches by `form` of it.

    Piece by piece: what is found in a text is kept until its end is reached (promise R99).
    """
    pieces = (text[at : at + _PIECE] for at in range(0, len(text), _PIECE))
    return "".join(re.sub(pattern, lambda found: form(found[0]), piece) for piece in pieces)


def redact(text: str) -> str:
    """Replaces keys, signing secrets, client secrets and credentials by prefix and last four."""
    if not text:  # as what most targets answer
        return text
    small = text.lower() if text.isascii() else None  # beyond ASCII case is not so simple
    if small is not None and not any(map(small.__contains__, _MARKS)):
        return text

    def may_have(marks: tuple[str, ...]) -> bool:
        return small is None or any(mark in small for mark in marks)

    for marks, pattern in _PREFIXED:
        if may_have(marks):
            text = re.sub(pattern, lambda match: match[1] + mask(match[2]), text)
    for marks, pattern, shown in _HIDDEN:
        if may_have(marks):
            text = re.sub(pattern, shown, text)
    return text


def redact_maybe(text: str | None) -> str | None:
    """Calls `redact`; None stays None."""
    return None if text is None else redact(text)


def redact_bytes(data: bytes) -> bytes:
    """Does the same for bytes; those that are not UTF-8 stay as they are."""
    if not data:  # most answers of a target
        return data
    text = data.decode("utf-8", "surrogateescape")
    shown = redact(text)
    return data if shown == text else shown.encode("utf-8", "surrogateescape")


def mask(secret: str) -> str:
    """Shows at most the last four characters of what follows a prefix."""
    return "…" + (secret[-_TAIL:] if len(secret) >= _SHORTEST_TAIL else "")


class Redactor:
    """Masks the key in use in a text that is written in pieces (promises R39, R40).

    The service knows the key and may repeat it in anything; no result needs to show it. `secret`
    gives the key once it is known. A piece that ends like the beginning of the key is held back
    until the next piece or `rest`.
    """

    def __init__(self, secret: Callable[[], str | None]) -> None:
        self._secret = secret
        self._held = ""
        self._forms: tuple[str, ...] = ()

    def through(self, text: str) -> str:
        """Returns the text that can be written now."""
        forms = self._find_known()
        if not forms:
            return text
        text = self._held + text
        for form in forms:
            if form in text:
                text = text.replace(form, _mask_form(form, forms[0]))
        held = max(_overlap(text, form) for form in forms)
        self._held = text[len(text) - held :]
        return text[: len(text) - held]

    def rest(self) -> str:
        """Returns the text that was held back, when no more follows."""
        held, self._held = self._held, ""
        return held

    def _find_known(self) -> tuple[str, ...]:
        if not self._forms and (secret := self._secret()):
            from binascii import b2a_base64

            # As Basic authentication writes it, up to where the colon shares a group.
            basic = b2a_base64(secret.encode(), newline=False).decode().rstrip("=")
            self._forms = (secret, basic[: len(secret) * 8 // 24 * 4])
        return self._forms


def _mask_form(form: str, secret: str) -> str:
    return redact(form) if form == secret else "…"


def _overlap(text: str, form: str) -> int:
    """How many characters at the end of a text are the beginning of a form."""
    first = form[0]
    start = text.find(first, max(len(text) - len(form) + 1, 0))
    while start >= 0:
        if form.startswith(text[start:]):
            return len(text) - start
        start = text.find(first, start + 1)
    return 0


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
