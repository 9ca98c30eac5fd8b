"""Taking secrets out of text before anybody reads it (promise R39)."""

import re
from collections.abc import Callable
from typing import Final

# No word boundary before a prefix: a server may echo a key behind any character.
# What is masked already, as in a fingerprint, stays as it is.
# Texts, not patterns: most commands redact nothing, and compiling takes a millisecond.
_KEY: Final = r"((?:sk|rk|pk)_(?:test|live)_)(?!…)([^\s\"',;&<>\\]+)"
_SIGNING: Final = r"(whsec_)(?!…)([^\s\"',;&<>\\]+)"
_CLIENT_SECRET: Final = r"(ord_[0-9A-Za-z]+_secret_)([0-9A-Za-z]+)"  # noqa: S105  a pattern
_AUTHORIZATION: Final = r"(?i)\b((?:basic|bearer)\s+)([A-Za-z0-9+/=._~-]{6,})"
# Bounded, so that a long run of anything takes linear time.
_USER_INFO: Final = r"(?i)(\b[a-z][a-z0-9+.-]{0,31}://)([^/\s]{1,1024})@"
_LOGIN: Final = r"(?<![\w@/])[^\s:/@\"']{1,256}:[^\s/@\"']{1,256}@(?=[\w.-])"
_ENCODED: Final = r"(?:c2tf|cmtf|cGtf)[A-Za-z0-9+/]{8,}={0,2}"  # base64 of sk_, rk_, pk_
_TAIL: Final = 4
_SHORTEST_TAIL: Final = 12  # of a shorter secret, four characters would be too much of it


def redact(text: str) -> str:
    """Replaces keys, signing secrets, client secrets and credentials by prefix and last four."""
    for pattern in (_KEY, _SIGNING, _CLIENT_SECRET):
        text = re.sub(pattern, lambda match: match[1] + masked(match[2]), text)
    text = re.sub(_AUTHORIZATION, lambda match: match[1] + "…", text)
    text = re.sub(_USER_INFO, lambda match: match[1] + "…@", text)
    text = re.sub(_LOGIN, "…@", text)
    return re.sub(_ENCODED, "…", text)


def redact_maybe(text: str | None) -> str | None:
    """The same for what may be absent."""
    return None if text is None else redact(text)


def masked(secret: str) -> str:
    """Shows at most the last four characters of what follows a prefix."""
    return "…" + (secret[-_TAIL:] if len(secret) >= _SHORTEST_TAIL else "")


class Veil:
    """Takes the key in use out of a text that is written in pieces (promises R39, R40).

    The service knows the key and may repeat it in anything; no result needs to show it. `secret`
    gives the key once it is known. A piece that ends like the beginning of the key is held back
    until the next piece or `rest`.
    """

    def __init__(self, secret: Callable[[], str | None]) -> None:
        self._secret = secret
        self._held = ""
        self._forms: tuple[str, ...] = ()

    def through(self, text: str) -> str:
        """Gives what can be written now."""
        forms = self._known()
        if not forms:
            return text
        text = self._held + text
        for form in forms:
            if form in text:
                text = text.replace(form, _shown(form, forms[0]))
        held = max(_overlap(text, form) for form in forms)
        self._held = text[len(text) - held :]
        return text[: len(text) - held]

    def rest(self) -> str:
        """Gives what was held back: nothing follows it now."""
        held, self._held = self._held, ""
        return held

    def _known(self) -> tuple[str, ...]:
        if not self._forms and (secret := self._secret()):
            from binascii import b2a_base64

            # As Basic authentication writes it, up to where the colon shares a group.
            basic = b2a_base64(secret.encode(), newline=False).decode().rstrip("=")
            self._forms = (secret, basic[: len(secret) * 8 // 24 * 4])
        return self._forms


def _shown(form: str, secret: str) -> str:
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
