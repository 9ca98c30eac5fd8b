"""Taking secrets out of text before anybody reads it (promise R39)."""

import re
from typing import Final

_KEY = re.compile(r"\b((?:sk|rk|pk)_(?:test|live)_)(\w+)")
_SIGNING = re.compile(r"\b(whsec_)([^\s\"',;&]+)")
_CLIENT_SECRET = re.compile(r"\b(ord_[0-9A-Za-z]+_secret_)([0-9A-Za-z]+)")
_AUTHORIZATION = re.compile(r"(?i)\b((?:basic|bearer)\s+)([A-Za-z0-9+/=._~-]{6,})")
_USER_INFO = re.compile(r"(?i)(https?://)([^/\s@]+)@")
_TAIL: Final = 4
_SHORTEST_TAIL: Final = 12  # of a shorter secret, four characters would be too much of it


def redact(text: str) -> str:
    """Replaces keys, signing secrets, client secrets and credentials by prefix and last four."""
    for pattern in (_KEY, _SIGNING, _CLIENT_SECRET):
        text = pattern.sub(lambda match: match[1] + masked(match[2]), text)
    text = _AUTHORIZATION.sub(lambda match: match[1] + "…", text)
    return _USER_INFO.sub(lambda match: match[1] + "…@", text)


def masked(secret: str) -> str:
    """Shows at most the last four characters of what follows a prefix."""
    return "…" + (secret[-_TAIL:] if len(secret) >= _SHORTEST_TAIL else "")
