"""Who is calling: the key in the Authorization header, and what it may do."""

import base64
from typing import Final

from svc.sandbox import keys
from svc.sandbox.documents import Doc
from svc.sandbox.problems import Problem
from svc.sandbox.world import World

CHALLENGE: Final = "WWW-Authenticate"
_CHALLENGE: Final = {CHALLENGE: 'Basic realm="svc"'}
_KEY_MAX: Final = 255


def key_text(authorization: str | None) -> str:
    """The key in a Basic (as the user name) or Bearer header.

    Raises:
        Problem: 401 `api_key_missing` or `api_key_invalid`.
    """
    scheme, _, rest = (authorization or "").strip().partition(" ")
    text = rest.strip()
    if scheme.lower() == "basic":
        text = _user_name(text)
    elif scheme and scheme.lower() != "bearer":
        raise invalid_key()
    if not text:
        message = "No API key was given. Send it as the user name of HTTP basic auth."
        raise Problem(401, "api_key_missing", message, headers=_CHALLENGE)
    return text


def mode_of(text: str) -> str:
    """The mode that a key's prefix decides; whether the key exists is another question."""
    return "live" if text[2:].startswith("_live_") else "test"


def authenticate(world: World, text: str) -> Doc:
    """The key's document.

    Raises:
        Problem: 401 `api_key_invalid` or `api_key_expired`.
    """
    plausible = len(text) <= _KEY_MAX and text.isascii() and text.isprintable()
    key = keys.find(world, text) if plausible else None
    if key is None:
        raise invalid_key()
    if keys.has_expired(world, key):
        message = "This API key was rolled and has stopped working."
        raise Problem(401, "api_key_expired", message, headers=_CHALLENGE)
    return key


def permit(key: Doc, resource: str, level: str) -> None:
    """Refuses what the key may not do.

    Raises:
        Problem: 403 `secret_key_required` or `permission_denied`.
    """
    if key["type"] == "publishable":
        message = "A publishable key cannot read or change data; use a secret key."
        raise Problem(403, "secret_key_required", message)
    if key["type"] == "restricted":
        granted = key["permissions"].get(resource, "none")
        if keys.LEVELS.index(granted) < keys.LEVELS.index(level):
            message = f"This restricted key needs {resource}:{level}."
            raise Problem(403, "permission_denied", message)


def https_required() -> Problem:
    message = "Requests must use HTTPS."
    return Problem(401, "https_required", message, headers=_CHALLENGE)


def invalid_key() -> Problem:
    return Problem(401, "api_key_invalid", "The API key is not valid.", headers=_CHALLENGE)


def _user_name(encoded: str) -> str:
    try:
        user, _, _ = base64.b64decode(encoded, validate=True).decode().partition(":")
    except ValueError:  # no base64, or no text in it
        raise invalid_key() from None
    return user
