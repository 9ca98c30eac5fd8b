"""Signing secrets that the user gives: in the environment, or on standard input."""

from collections.abc import Mapping, Sequence
from typing import Final

from svc.cli.key_input import read_secret
from svc.cli.session import Session
from svc.errors import UsageError
from svc.keys.kinds import SIGNING_VARIABLE, parse_signing_secret

_MOST: Final = 2  # while one is being replaced (promise R48)


def from_environment(env: Mapping[str, str]) -> tuple[str, ...]:
    """Gives the secrets of SVC_WEBHOOK_SECRET, two of them with a comma between; maybe none.

    Raises:
        UsageError: one of them cannot be a signing secret, or there are more than two.
    """
    text = env.get(SIGNING_VARIABLE, "")
    return _checked(text.split(","), SIGNING_VARIABLE) if text else ()


def from_stdin(session: Session) -> tuple[str, ...]:
    """Gives the secrets on standard input, one a line.

    Raises:
        UsageError: as above, or there is none.
    """
    return _checked(
        read_secret(session, "Signing secret: ", stdin=True).split("\n"), "Standard input"
    )


def _checked(parts: Sequence[str], source: str) -> tuple[str, ...]:
    if len(parts) > _MOST:
        raise UsageError(f"{source} holds more than two signing secrets.", code="secret_invalid")
    return tuple(parse_signing_secret(part, source) for part in parts)
