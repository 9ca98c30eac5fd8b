"""What a fault rule does to a request that is on its way to a receiver."""

from dataclasses import replace

from svc.sandbox.delivery import Outgoing
from svc.spec import SIGNATURE_HEADER


def with_bad_signature(outgoing: Outgoing) -> Outgoing:
    """The same request; the last hex digit of every signature is another one."""
    headers = tuple(
        (name, _spoilt(value) if name == SIGNATURE_HEADER else value)
        for name, value in outgoing.headers
    )
    return replace(outgoing, headers=headers)


def _spoilt(header: str) -> str:
    stamp, *signatures = header.split(",")
    return ",".join([stamp, *(text[:-1] + _other(text[-1]) for text in signatures)])


def _other(digit: str) -> str:
    return "1" if digit == "0" else "0"
