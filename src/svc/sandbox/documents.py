"""Documents: plain JSON objects as a GET shows them, plus private keys that begin with `_`."""

import json
import re
from collections.abc import Mapping
from typing import Any, Final

Doc = dict[str, Any]

# Encoders are kept: json.dumps builds one a call when it is given options.
_PLAIN = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), allow_nan=False)
_ESCAPED = json.JSONEncoder(separators=(",", ":"), allow_nan=False)
_EXPONENT: Final = re.compile(r'"fx_rate":([0-9.]+)e-([0-9]+)')
_SHOWN_ONCE = frozenset({"client_secret", "secret"})


def public(doc: Mapping[str, Any]) -> Doc:
    """The document as a GET shows it: without the private keys of its top level.

    Deeper keys are the user's own (metadata may begin with an underscore) and stay.
    """
    return {key: value for key, value in doc.items() if not key.startswith("_")}


def snapshot(doc: Mapping[str, Any]) -> Doc:
    """What an event carries: the public document without secrets (assumptions: Events)."""
    return {key: value for key, value in public(doc).items() if key not in _SHOWN_ONCE}


def compact(value: object) -> bytes:
    """Compact JSON in UTF-8; a lone surrogate, which UTF-8 cannot hold, stays an escape.

    Exchange rates are plain decimals: 0.00004, not 4e-05 (assumptions: Payout).
    """
    text = _PLAIN.encode(value)
    # A quote inside a string is escaped, so this finds the number of that name and no text.
    if '"fx_rate":' in text:
        text = _EXPONENT.sub(_plain, text)
    try:
        return text.encode()
    except UnicodeEncodeError:
        return _ESCAPED.encode(value).encode()


def decode(stored: str | bytes) -> Doc:
    """Reads what `compact` wrote; every call makes a fresh object."""
    doc: Doc = json.loads(stored)
    return doc


def _plain(match: re.Match[str]) -> str:
    digits = match[1].replace(".", "")
    return '"fx_rate":0.' + "0" * (int(match[2]) - 1) + digits
