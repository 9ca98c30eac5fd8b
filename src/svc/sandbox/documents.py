"""Documents: plain JSON objects as a GET shows them, plus private keys that begin with `_`."""

import json
from collections.abc import Mapping
from typing import Any

Doc = dict[str, Any]

# Encoders are kept: json.dumps builds one a call when it is given options.
_PLAIN = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), allow_nan=False)
_ESCAPED = json.JSONEncoder(separators=(",", ":"), allow_nan=False)
_SHOWN_ONCE = frozenset({"client_secret", "secret"})


def public(doc: Mapping[str, Any]) -> Doc:
    """The document as a GET shows it: without the private keys of its top level.

    Deeper keys are the user's own (metadata may begin with an underscore) and stay.
    """
    return {key: value for key, value in doc.items() if not key.startswith("_")}


def snapshot(doc: Mapping[str, Any]) -> Doc:
    """What an event carries: the public document without secrets (contract D.2)."""
    return {key: value for key, value in public(doc).items() if key not in _SHOWN_ONCE}


def compact(value: object) -> bytes:
    """Compact JSON in UTF-8; a lone surrogate, which UTF-8 cannot hold, stays an escape."""
    try:
        return _PLAIN.encode(value).encode()
    except UnicodeEncodeError:
        return _ESCAPED.encode(value).encode()


def decode(stored: str | bytes) -> Doc:
    """Reads what `compact` wrote; every call makes a fresh object."""
    doc: Doc = json.loads(stored)
    return doc
