"""Sends a delivery again from the inspector's page, signed anew, and notes it like any forward.

`app` calls a `Replayer` when the form of a delivery is submitted.
"""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from svc import signature
from svc.clock import Clock
from svc.errors import SignatureError, UsageError
from svc.listen.forward.request import build_record
from svc.listen.forward.signing import sign_anew
from svc.listen.http.connection import TargetReply, exchange_once
from svc.listen.inbox.history import InboxEntry, InboxHistory
from svc.listen.inspector.history import Whole
from svc.listen.inspector.page import header_lines, mask
from svc.listen.output_records import ListenerRecord
from svc.listen.plan import ListenerPlan
from svc.listen.routes import AnyTarget
from svc.listen.running import sender_for
from svc.listen.targets import Target
from svc.service.facts import SIGNATURE_HEADER

_SECONDS_MAX: Final = 30.0
_HEADER: Final = SIGNATURE_HEADER.lower().encode()


@dataclass(frozen=True, slots=True)
class Replayer:
    """Sends deliveries of the inbox again.

    `own` returns the listener's endpoint as it is now, or None, with its signing secrets,
    `secrets_of` those of another endpoint, or none. `emit` is called with a record of each forward.
    """

    archive: InboxHistory
    clock: Clock
    plan: ListenerPlan
    own: Callable[[], tuple[str | None, tuple[str, ...]]]
    secrets_of: Callable[[str], Sequence[str]]
    emit: Callable[[ListenerRecord], None]

    @property
    def _configured(self) -> dict[str, AnyTarget]:
        return {str(target): target for target in self.plan.routes.targets}

    def targets(self, whole: Whole, to: str) -> list[AnyTarget]:
        """Returns where to send a delivery: to the address `to`, else its own targets.

        Raises:
            UsageError: the address cannot be forwarded to, or there is none.
        """
        if to:
            return [Target.parse(to)]
        if whole.entry.state == "withheld":  # what was kept from the targets needs more than a key
            raise UsageError("It belongs to the other mode: say where to.")
        urls = dict.fromkeys(row["url"] for row in whole.forwards if not row["replay"])
        configured = self._configured
        found = [configured.get(url) or Target.parse(url) for url in urls]
        found = found or list(self.plan.routes.match(whole.entry.type))
        found = found or [Target.parse(url) for url in whole.entry.targets]
        if not found:
            raise UsageError("It was not forwarded anywhere: say where to.")
        return found

    def headers(self, whole: Whole, *, original: bool) -> bytes:
        """Returns the header lines to send, signed now unless the old signature is wanted; blocks.

        Raises:
            UsageError: the signing secret is not known here.
        """
        headers, body = whole.content.headers, whole.content.body
        if original:
            return headers
        secrets = self._secrets(whole.entry)
        if not secrets:
            raise UsageError(
                f"The signing secret of {whole.entry.id} is not known here: keep the original "
                "signature."
            )
        return sign_anew(headers, body, secrets, self.clock.now())

    def begin(self, whole: Whole, targets: Sequence[AnyTarget]) -> list[int]:
        """Notes that a delivery is sent now; returns how often each may have had it; blocks."""
        return [self.archive.begin_replay(whole.entry.seq, str(target)) for target in targets]

    async def send(
        self, whole: Whole, targets: Sequence[AnyTarget], headers: bytes, before: Sequence[int]
    ) -> list[TargetReply]:
        """Sends to all targets at once; returns the reply of each, in the order of `targets`."""
        each = zip(targets, before, strict=True)
        return await asyncio.gather(*(self._send_to(one, whole, headers, had) for one, had in each))

    def note(
        self,
        whole: Whole,
        targets: Sequence[AnyTarget],
        replies: Sequence[TargetReply],
        started: float,
    ) -> None:
        """Records the attempts of a replay like those of a forward; blocks."""
        each = zip(targets, replies, strict=True)
        attempts = [(str(target), started, reply) for target, reply in each]
        taken = all(reply.is_taken for reply in replies)
        self.archive.note_replays(whole.entry.seq, attempts, taken=taken)

    def verdict(self, whole: Whole) -> str:
        """Returns why a delivery of the inbox is authentic: everything in it was verified."""
        entry = whole.entry
        own, secrets = self.own()
        secrets = secrets if entry.endpoint_id == own else ()
        lines = header_lines(whole.content.headers)
        values = [value for name, value in lines if name.lower() == _HEADER]
        try:
            found = signature.verify(whole.content.body, values, secrets, int(entry.received_at))
        except SignatureError:
            return "Verified when it came; its secret is not at hand now."
        age = int(entry.received_at) - found.timestamp
        when = f"{abs(age)} s {'after' if age < 0 else 'before'} it came"
        secret = mask(secrets[found.secret_index])
        return f"Verified: signed with {secret}, {when}."

    def _secrets(self, entry: InboxEntry) -> Sequence[str]:
        own, secrets = self.own()
        if entry.endpoint_id == own:
            return secrets
        return self.secrets_of(entry.endpoint_id) if entry.endpoint_id else ()

    async def _send_to(
        self, target: AnyTarget, whole: Whole, headers: bytes, before: int
    ) -> TargetReply:
        extra = self.plan.headers if str(target) in self._configured else ()
        sender = sender_for(target, extra, trust=self.plan.trust)
        request = sender.request(headers, whole.content.body, before).data
        limit = min(self.plan.forwarding.seconds, _SECONDS_MAX)
        reply = await exchange_once(sender.link(), request, limit)
        event = (whole.entry.id, whole.entry.type)
        self.emit(build_record(reply, target, event, self.clock.now(), 1))
        return reply
