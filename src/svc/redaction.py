"""Taking secrets out of text before anybody reads it (promise R39)."""

import re
from typing import Final

# No word boundary before a prefix: a server may echo a key behind any character.
# What is masked already, as in a fingerprint, stays as it is.
_KEY = re.compile(r"((?:sk|rk|pk)_(?:test|live)_)(?!…)([^\s\"',;&<>\\]+)")
_SIGNING = re.compile(r"(whsec_)(?!…)([^\s\"',;&<>\\]+)")
_CLIENT_SECRET = re.compile(r"(ord_[0-9A-Za-z]+_secret_)([0-9A-Za-z]+)")
_AUTHORIZATION = re.compile(r"(?i)\b((?:basic|bearer)\s+)([A-Za-z0-9+/=._~-]{6,})")
_USER_INFO = re.compile(r"(?i)(\b[a-z][a-z0-9+.-]*://)([^/\s]+)@")
_LOGIN = re.compile(r"(?<![\w@/])[^\s:/@\"']+:[^\s/@\"']+@(?=[\w.-]+(?::\d+)?)")
_ENCODED = re.compile(r"(?:c2tf|cmtf|cGtf)[A-Za-z0-9+/]{8,}={0,2}")  # base64 of sk_, rk_, pk_
_TAIL: Final = 4
_SHORTEST_TAIL: Final = 12  # of a shorter secret, four characters would be too much of it


def redact(text: str) -> str:
    """Replaces keys, signing secrets, client secrets and credentials by prefix and last four."""
    for pattern in (_KEY, _SIGNING, _CLIENT_SECRET):
        text = pattern.sub(lambda match: match[1] + masked(match[2]), text)
    text = _AUTHORIZATION.sub(lambda match: match[1] + "…", text)
    text = _USER_INFO.sub(lambda match: match[1] + "…@", text)
    text = _LOGIN.sub("…@", text)
    return _ENCODED.sub("…", text)


def redact_maybe(text: str | None) -> str | None:
    """The same for what may be absent."""
    return None if text is None else redact(text)


def masked(secret: str) -> str:
    """Shows at most the last four characters of what follows a prefix."""
    return "…" + (secret[-_TAIL:] if len(secret) >= _SHORTEST_TAIL else "")
