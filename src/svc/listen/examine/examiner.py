"""Makes the deliveries of each rule, one after the other, and judges the handler's answers.

`svc events examine` makes one `Examiner` and prints the verdicts that it returns.
"""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Literal, NamedTuple

from svc.api_keys import fingerprint
from svc.errors import CheckFailed, UsageError
from svc.json_text import parse_any
from svc.listen.examine.effects import (
    Effects,
    compare_outputs,
    count_events,
    describe_difference,
    refuse_check,
)
from svc.listen.examine.events import SIGNATURES, ExampleObjects, Signer, write_headers
from svc.listen.examine.rules import RULES, HandlerRule, TrialDelivery
from svc.listen.forward.request import ForwardSender
from svc.listen.http.connection import TargetReply, exchange_once
from svc.service.facts import SECRET_PREFIX, WEBHOOK_DEADLINE_SECONDS

RuleStatus = Literal["passed", "failed", "unknown", "advice"]

SLOW_SECONDS: Final = 2.0
_REDELIVERIES: Final = 2  # of what was not taken, as the service makes them
_ABSENT: Final = ("unreachable", "forbidden", "closed")
_RESTARTS: Final = 15  # tries to connect, in which a supervisor starts a handler again
_RESTART_SECONDS: Final = 0.2
_SHOWN_BYTES: Final = 60
_CUT_SECONDS: Final = 0.01  # after the request was written: the handler has begun
_LOOK_SECONDS: Final = 0.002


class HandlerTarget:
    """Delivers each with a new connection; an answer may take `seconds`."""

    def __init__(self, sender: ForwardSender, seconds: float) -> None:
        self._sender = sender
        self._seconds = seconds

    async def send(self, headers: bytes, body: bytes) -> TargetReply:
        """Makes one delivery and returns its answer."""
        request = self._sender.request(headers, body).data
        return await exchange_once(self._sender.link(), request, self._seconds)

    async def cut(self, headers: bytes, body: bytes) -> None:
        """Makes one delivery and closes the connection as soon as the handler has all of it."""
        link, over = self._sender.link(), asyncio.Event()
        link.exchange(self._sender.request(headers, body).data, self._seconds, lambda _: over.set())
        try:
            while not link.sent and not over.is_set():  # noqa: ASYNC110  no event tells of it
                await asyncio.sleep(_LOOK_SECONDS)
            await asyncio.sleep(_CUT_SECONDS)
        finally:
            link.close()

    async def connect(self) -> TargetReply:
        """Opens a connection and sends nothing; the reply says why none can be made."""
        return await exchange_once(self._sender.link(), b"", self._seconds)


class RuleVerdict(NamedTuple):
    """The verdict on one rule; `fix` is what to change, `until` the rule that must pass before."""

    rule: HandlerRule
    status: RuleStatus
    detail: str
    fix: str | None = None
    until: str | None = None

    def as_data(self) -> dict[str, Any]:
        """The verdict as `-o json` shows it."""
        return {
            "object": "examined_rule",
            "name": self.rule.name,
            "status": self.status,
            "promise": f"The handler {self.rule.promise}.",
            "detail": self.detail,
            "fix": self.fix,
        }


class VerdictReached(Exception):  # noqa: N818  a verdict of ours, not an error of the program
    """Ends a rule early with its verdict; a failure without a `fix` gets the rule's own."""

    def __init__(self, detail: str, fix: str | None = None, status: RuleStatus = "failed") -> None:
        super().__init__(detail)
        self.fix = fix
        self.status = status


class _Answered(NamedTuple):
    delivery: TrialDelivery
    replies: list[TargetReply]

    @property
    def is_taken(self) -> bool:
        return any(reply.is_taken for reply in self.replies)

    @property
    def is_settled(self) -> bool:
        """Whether it need not be delivered again."""
        return self.is_taken or self.delivery.is_refused or self.delivery.is_cut


@dataclass(slots=True)
class Examiner:
    """Examines one handler by all rules.

    Attributes:
        type: of the events that have an effect.
        check: returns what shows the effects; None where nothing does.
        settle: seconds within which an effect shows.
        new_letters: returns as many random letters as it is asked for.
        now: the time in Unix seconds.
        begin: called with each rule before its deliveries.
    """

    handler: HandlerTarget
    secrets: Sequence[str]
    type: str
    check: Callable[[], Awaitable[str]] | None
    settle: float
    new_letters: Callable[[int], str]
    now: Callable[[], float]
    begin: Callable[[HandlerRule], object]
    sleep: Callable[[float], Awaitable[object]] = asyncio.sleep
    _failed: set[str] = field(init=False, default_factory=set)
    _single: Effects = field(init=False, default_factory=dict)  # the effect of one event
    _was_reached: bool = field(init=False, default=False)
    _gone_since: str | None = field(init=False, default=None)  # the rule it did not survive

    async def examine(self) -> list[RuleVerdict]:
        """Returns a verdict on every rule, in their order.

        Raises:
            CheckFailed: nothing answers at the handler's address.
            UsageError: the command that shows effects does not work.
        """
        verdicts = []
        for rule in RULES:
            self.begin(rule)
            verdicts.append(await self._examine(rule))
            if verdicts[-1].status == "failed":
                self._failed.add(rule.name)
        return verdicts

    async def _examine(self, rule: HandlerRule) -> RuleVerdict:
        if not rule.deliveries:
            return RuleVerdict(
                rule,
                "advice",
                f"No delivery can show whether the handler {rule.promise}.",
                rule.fix,
            )
        unmet = next((name for name in rule.after if name in self._failed), self._gone_since)
        if unmet is not None:
            return RuleVerdict(rule, "unknown", f"Unknown until '{unmet}' passes.", until=unmet)
        try:
            answered = await (self._judge_effect(rule) if rule.after else self._learn_effect(rule))
        except VerdictReached as verdict:
            fix = (verdict.fix or rule.fix).format(secret=fingerprint(self.secrets[0]))
            return RuleVerdict(rule, verdict.status, str(verdict), fix)
        return self._advise(rule, answered)

    def _advise(self, rule: HandlerRule, answered: Sequence[_Answered]) -> RuleVerdict:
        """Returns the verdict on a rule that is not broken."""
        answers = _describe_answers(answered)
        replies = [reply for each in answered for reply in each.replies]
        if rule.seen and not self._single:
            detail = f"{answers}. Without --check it is unknown whether the handler {rule.promise}."
            return RuleVerdict(rule, "unknown", detail)
        if any(each.delivery.is_refused for each in answered):
            if any(reply.status is None or reply.status // 100 != 4 for reply in replies):  # noqa: PLR2004
                fix = "Answer 400: anything else looks like a fault of the handler's own."
                return RuleVerdict(rule, "advice", f"{answers}.", fix)
        elif not rule.after and (advice := _find_advice(replies)):
            return RuleVerdict(rule, "advice", f"{answers}.", advice)
        return RuleVerdict(
            rule, "passed", f"{answers}: {rule.seen}." if rule.seen else f"{answers}."
        )

    async def _learn_effect(self, rule: HandlerRule) -> list[_Answered]:
        """Delivers valid events one by one and keeps what one of them does."""
        answered, outputs = list[_Answered](), [await self._look(rule)]
        for each in rule.deliveries:
            answered += await self._deliver(rule, (each,))
            await self._settle()
            outputs.append(await self._look(rule))
        changes = [compare_outputs(outputs[0], outputs[1]), compare_outputs(outputs[1], outputs[2])]
        if self.check is not None and not any(changes):
            raise VerdictReached(
                f"{_describe_answers(answered)}, but --check prints the same as before.",
                f"Have --check print a number or a line for each {self.type} that was "
                "handled. --type names another type, --settle gives a slow handler time.",
            )
        if changes[0] != changes[1]:
            raise refuse_check(
                "two equal events change what it prints in different ways (the second one has "
                f"{describe_difference(changes[1], changes[0])})",
                "Have it print a number, or a line for each event, without any running number; "
                "--settle gives a slow handler time",
            )
        self._single = changes[0]
        return answered

    async def _judge_effect(self, rule: HandlerRule) -> list[_Answered]:
        wanted = {key: amount * rule.effects for key, amount in self._single.items()}
        wanted = {key: amount for key, amount in wanted.items() if amount}
        before = await self._look(rule)
        if rule.reference and self._single:
            await self._deliver(rule, rule.reference)
            await self._settle()
            after = await self._look(rule)
            wanted, before = compare_outputs(before, after), after
            if wanted in ({}, self._single):
                raise VerdictReached(
                    f"--check shows no other event than {self.type}, so the order of the "
                    "others is unknown.",
                    "Have it print the state of payments, refunds and payouts too, if the handler "
                    "keeps any.",
                    "unknown",
                )
        answered = await self._deliver(rule, rule.deliveries)
        early = await self._look(rule) if rule.is_soon else ""
        await self._settle()
        found = compare_outputs(before, await self._look(rule))
        if found != wanted:
            raise VerdictReached(self._describe_effect(rule, answered, found, wanted))
        if rule.is_soon and compare_outputs(before, early) != wanted:
            count = count_events(compare_outputs(before, early), self._single)
            saved = "something else" if count is None else f"{count} of {rule.effects} events"
            raise VerdictReached(
                f"{_describe_answers(answered)} before it was saved: right after the answers "
                f"--check showed {saved}."
            )
        return answered

    def _describe_effect(
        self, rule: HandlerRule, answered: Sequence[_Answered], found: Effects, wanted: Effects
    ) -> str:
        differs = describe_difference(found, wanted)
        if rule.reference:
            return (
                f"The wrong order leaves another state than the right one: --check shows {differs}."
            )
        count = count_events(found, self._single)
        shown = (
            differs if count is None else f"the effect of {count} event{'' if count == 1 else 's'}"
        )
        return (
            f"{_describe_answers(answered)}, but --check shows {shown} in place of {rule.effects}."
        )

    async def _deliver(
        self, rule: HandlerRule, deliveries: Sequence[TrialDelivery]
    ) -> list[_Answered]:
        """Makes deliveries in their order, and again what was not taken.

        Raises:
            VerdictReached: one is not answered as it must be.
        """
        objects = {each.case: ExampleObjects(self.new_letters, self.now()) for each in deliveries}
        answered: list[_Answered] = []
        for each in deliveries:
            if any(each.case == one.delivery.case for one in answered):
                await self._settle()
            replies = await self._send(rule, each, objects[each.case])
            answered.append(_Answered(each, replies))
            if each.is_refused and answered[-1].is_taken:
                raise VerdictReached(
                    f"Answered {_describe_reply(replies[0])} to an event {each.signature}."
                )
            if not rule.seen:
                self._require_taken(rule, answered[-1])
        for one in answered:
            await self._deliver_again(rule, one, objects[one.delivery.case])
        return answered

    async def _deliver_again(
        self, rule: HandlerRule, one: _Answered, objects: ExampleObjects
    ) -> None:
        last = one
        for attempt in range(_REDELIVERIES):
            if last.is_settled:
                return
            await self._settle()
            again = one.delivery._replace(copies=1)
            last = _Answered(again, await self._send(rule, again, objects, attempt + 2))
        self._require_taken(rule, last)

    def _require_taken(self, rule: HandlerRule, one: _Answered) -> None:
        if one.is_settled:
            return
        kind = one.delivery.type or self.type
        form = f" with {one.delivery.form}" if one.delivery.form else ""
        reply = next((each for each in one.replies if each.status), one.replies[0])
        keys = (reply.trouble, reply.status, (reply.status or 0) // 100)
        fixes = rule.fixes or {}
        fix = next((fixes[key] for key in keys if key is not None and key in fixes), None)
        if reply.status is None:
            raise VerdictReached(f"No answer to a valid {kind}{form}: {reply.error}.", fix)
        raise VerdictReached(f"Answered {_describe_reply(reply)} to a valid {kind}{form}.", fix)

    async def _send(
        self, rule: HandlerRule, one: TrialDelivery, objects: ExampleObjects, attempt: int = 1
    ) -> list[TargetReply]:
        letters = self.new_letters
        event, body = objects.event(one.type or self.type, one.form, one.minutes_ago)
        signer = Signer(self.secrets, f"{SECRET_PREFIX}{letters(32)}", int(self.now()))
        signature = SIGNATURES[one.signature](body, signer)
        headers = write_headers(event, f"dlv_{letters(24)}", attempt, rule.name, signature)
        if one.is_cut:
            await self.handler.cut(headers, body)
            return []
        replies = await asyncio.gather(
            *(self.handler.send(headers, body) for _ in range(one.copies))
        )
        absent = next((reply for reply in replies if reply.trouble in _ABSENT), None)
        if absent is not None and absent.trouble != "closed" and not self._was_reached:
            raise CheckFailed(
                f"The handler cannot be reached: {absent.error}.",
                code="handler_unreachable",
                param="--forward-to",
                hint="Start it at this address, then examine it again",
            )
        self._was_reached = True
        if absent is not None:
            await self._require_presence(rule)
        return replies

    async def _require_presence(self, rule: HandlerRule) -> None:
        """Waits for a handler that has ended and is being started again."""
        for _ in range(_RESTARTS):
            await self.sleep(_RESTART_SECONDS)
            reply = await self.handler.connect()
            if reply.trouble is None:
                return
        self._gone_since = rule.name
        raise VerdictReached(f"The handler stopped answering during this rule: {reply.error}.")

    async def _look(self, rule: HandlerRule) -> str:
        if self.check is None:
            return ""
        try:
            return await self.check()
        except UsageError:
            if self._single:  # it has worked, and may ask the handler
                await self._require_presence(rule)
            raise

    async def _settle(self) -> None:
        if self.check is not None:
            await self.sleep(self.settle)


def _describe_answers(answered: Sequence[_Answered]) -> str:
    """Returns how all deliveries were answered: `Taken with 200 within 4 ms`."""
    replies = [reply for each in answered for reply in each.replies]
    is_refused = any(each.delivery.is_refused for each in answered)
    codes = Counter(str(reply.status or reply.error or "no answer") for reply in replies)
    slowest = max((reply.milliseconds for reply in replies), default=0)
    word = "Refused" if is_refused else "Taken"
    return f"{word} with {' and '.join(codes)} within {max(slowest, 1):,.0f} ms"


def _describe_reply(reply: TargetReply) -> str:
    """Returns the status with the beginning of the body, or why there is none."""
    if reply.status is None:
        return reply.error or "no answer"
    text = " ".join(reply.body[:_SHOWN_BYTES].decode("utf-8", "replace").split())
    readable = "".join(letter for letter in text if letter.isprintable())
    return f"{reply.status} ({readable})" if readable else str(reply.status)


def _find_advice(replies: Sequence[TargetReply]) -> str | None:
    """Returns what to do about answers to valid events that are slow or tell of an error."""
    if max(reply.milliseconds for reply in replies) > SLOW_SECONDS * 1000:
        return (
            f"Save the event, answer, and do what takes long afterwards: beyond "
            f"{WEBHOOK_DEADLINE_SECONDS} s an event is not taken and comes again."
        )
    if any(map(_tells_error, replies)):
        return (
            "Answer 500 where an event was not handled: the body tells of an error, but only the "
            "status counts, and what is answered 200 never comes again."
        )
    return None


def _tells_error(reply: TargetReply) -> bool:
    body = parse_any(reply.body)
    return isinstance(body, dict) and any(body.get(name) for name in ("error", "errors"))
