"""Deliveries that begin to be signed with another secret: told once, with the way to go on."""

import shlex
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Final

from svc.cli.events.endpoint import Endpoint
from svc.listen.records import EventReceived, ListenerRecord, Rejected

_MISMATCHES: Final = 3  # in a row: one may be anybody's


@dataclass(slots=True)
class SignatureWatch:
    """Counts signatures that do not match; `warn` is called with a sentence about them.

    The API shows no secret after its endpoint was made, so a new one has to come from the person
    who rolled it. A sandbox shows it, and the listener takes it by itself.
    """

    endpoint: Endpoint
    again: str
    argv: Sequence[str]
    warn: Callable[[str], None]
    _mismatches: int = field(default=0, init=False)

    def hear(self, record: ListenerRecord) -> None:
        """Hears of everything that a listener tells."""
        if isinstance(record, EventReceived):
            self._mismatches = 0
        elif isinstance(record, Rejected) and record.reason == "signature_mismatch":
            self._mismatches += record.cause in ("", record.reason)
            if self._mismatches == _MISMATCHES:
                self.warn(self._sentence())

    def _sentence(self) -> str:
        command = shlex.join(("svc", *self.argv))
        if self.endpoint.id is None:
            whose, old = "the endpoint", "OLD"
        else:
            whose, old = self.endpoint.id, f'"$({self.again} --print-secret)"'
        return (
            f"{_MISMATCHES} deliveries in a row were signed with another secret. If that of "
            f"{whose} was rolled, stop and go on with both, NEW being the new one: "
            f"SVC_WEBHOOK_SECRET=NEW,{old} {command}"
        )
