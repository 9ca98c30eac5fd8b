"""A job's share of a queue in memory: what it says of each event, and when it takes none."""

import asyncio
import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, cast

import pytest

from support.clocks import ManualClock
from support.listening import NOW
from support.suite.patience import WAIT_SECONDS
from support.team.log import KEY
from svc.listen.http.dial import CannotConnect
from svc.listen.log import group
from svc.listen.log.connection import Message
from svc.listen.log.group import ConsumerGroup, GroupSource
from svc.listen.log.messages import Trust, put_again
from svc.listen.targets import Target
from unit.listen.log.fake_log import STREAM, FakeLog, message

WRONG = "whsec_test_0000000000000000000000000"


def given(number: int, delivered: int = 1, **headers: str) -> Message:
    receipt = f"$JS.ACK.{STREAM}.g_ci.{delivered}.{number}.1.0.0"
    return replace(message(number, **headers), reply=receipt)


class FakeQueue(FakeLog):
    """Gives its messages one by one, and hears what is said of them."""

    def __init__(self, *messages: Message) -> None:
        super().__init__()
        self.left = [*messages]
        self.said: list[tuple[int, str]] = []

    async def gather(self, verb: str, body: Mapping[str, Any], most: int) -> list[Message]:
        assert (verb, body["batch"], most) == (f"CONSUMER.MSG.NEXT.{STREAM}.g_ci", 1, 1)
        while not self.left:  # noqa: ASYNC110  as a server waits
            await asyncio.sleep(0.002)
        return [self.left.pop(0)]

    async def publish(self, receipt: str, word: bytes) -> None:
        self.said.append((int(receipt.split(".")[5]), word.decode()))

    async def request(self, subject: str, body: bytes, *_: Any, seconds: float = 5.0) -> Message:
        assert seconds == 2
        await self.publish(subject, body)
        return Message("", "", {}, b"")


class FakeJob:
    """A job whose target answers each event as `statuses` says; None: not while it runs."""

    def __init__(
        self, log: FakeQueue, *statuses: int | None, secret: str = "", lanes: int = 1
    ) -> None:
        self.log = log
        self.statuses = [*statuses]
        self.got: list[tuple[str, int]] = []
        self.told: list[Any] = []
        self.is_open = True
        trust = Trust(STREAM, (KEY,), (secret,) if secret else ())
        self.source = GroupSource(
            cast("Any", log),
            ConsumerGroup("ci", "test", lanes, trust),
            [Target.parse("3000")],
            ManualClock(NOW),
            cast("Any", self),
            self.told.append,
            self._connect,
        )
        self.reject = self.told.append

    async def _connect(self, *_: Any) -> Any:
        if not self.is_open:
            raise CannotConnect("connection refused", "unreachable")
        return type("Wire", (), {"close": lambda _: None})()

    def admit(self, delivery: Any, answer: Callable[[int], None], *, redelivered: int) -> None:
        self.got.append((delivery.facts.id, redelivered))
        if (status := self.statuses.pop(0)) is not None:
            asyncio.get_running_loop().call_soon(answer, status)

    async def until(self, true: Callable[[], object]) -> None:
        async with asyncio.timeout(WAIT_SECONDS):
            while not true():  # noqa: ASYNC110  no event tells of it
                await asyncio.sleep(0.002)

    async def run(self, true: Callable[[], object]) -> list[tuple[int, str]]:
        await self.source.start()
        await self.until(true)
        await self.source.stop_accepting()
        await self.source.close()
        return self.log.said


def nak(seconds: int) -> str:
    return f"-NAK {json.dumps({'delay': seconds * 10**9})}"


@pytest.mark.parametrize(
    ("status", "delivered", "word"),
    [
        (200, 1, "+ACK"),
        (422, 1, "+TERM the target answered 422"),
        (500, 1, "+TERM the target answered 500"),
        *((status, 1, nak(1)) for status in (502, 503, 504, 599)),
        *(
            (503, times, nak(wait))
            for times, wait in ((2, 2), (6, 32), (7, 60), (8, 60), (900, 60))
        ),
    ],
)
async def test_each_answer_has_its_word_at_the_log(status: int, delivered: int, word: str) -> None:
    """R129: what a target refuses is put aside; what it could not take goes back, ever later."""
    log = FakeQueue(given(1, delivered))
    job = FakeJob(log, status)
    assert await job.run(lambda: log.said) == [(1, word)]
    assert job.got == [("evt_1", delivered - 1)]


async def test_an_event_without_a_verdict_goes_back_at_once_when_its_job_ends() -> None:
    log = FakeQueue(given(1), given(2), given(3))
    job = FakeJob(log, None, None, lanes=2)
    assert sorted(await job.run(lambda: len(job.got) == 2)) == [(1, "-NAK"), (2, "-NAK")]
    assert len(log.left) == 1  # no more than it may have at once


async def test_what_is_not_for_this_job_is_put_aside_or_given_to_another() -> None:
    """R128: without a proof to nobody; with another secret, or for another group, elsewhere."""
    one = message(2)
    other = replace(given(2), headers=put_again(one, STREAM, KEY, "e2e", 1))
    ours = replace(given(3), headers=put_again(one, STREAM, KEY, "ci", 1), body=one.body)
    log = FakeQueue(given(1, Svc_Receiver_Proof="0"), other, ours, given(4))
    job = FakeJob(log, 200, 200)
    said = dict(await job.run(lambda: len(log.said) == 4))
    assert said.pop(1) == "+TERM Its Svc-Receiver-Proof was not made with the log's key."
    assert said == {2: "+ACK", 3: "+ACK", 4: "+ACK"}
    assert job.got == [("evt_2", 1), ("evt_4", 0)]
    log = FakeQueue(given(1, 3))
    wrong = FakeJob(log, secret=WRONG)
    assert await wrong.run(lambda: log.said) == [(1, nak(4))]
    assert [one.reason for one in wrong.told] == ["signature_mismatch"]


async def test_a_job_takes_nothing_while_its_target_is_away(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """R129: else it would fail fastest and take most; one event shows whether it is well again."""
    monkeypatch.setattr(group, "BACK_SECONDS", (0.05,))
    monkeypatch.setattr(group, "_PROBE_SECONDS", 0.002)
    monkeypatch.setattr(group, "back_after", lambda _: b"-NAK")
    log = FakeQueue(given(1), given(2), given(3))
    job = FakeJob(log, 503, None, 200)
    await job.source.start()
    await job.until(lambda: job.got)
    job.is_open = False
    await asyncio.sleep(0.1)
    assert len(job.got) == 1
    job.is_open = True
    await job.until(lambda: len(job.got) == 2)
    await job.source.stop_accepting()
    await job.source.close()
    assert log.said == [(1, "-NAK"), (2, "-NAK")]


async def test_a_target_that_is_well_again_gets_as_many_at_once_as_before(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(group, "BACK_SECONDS", (0.01,))
    log = FakeQueue(given(1))
    job = FakeJob(log, 503, 200, None, None, lanes=2)
    await job.source.start()
    await job.until(lambda: job.got)

    def comes_again() -> bool:  # what was asked for before goes back while the target is away
        log.left += [] if log.left or len(job.got) >= 2 else [given(2)]
        return len(job.got) >= 2  # twice, where it was on its way when it was asked for again

    await job.until(comes_again)
    log.left += [given(3), given(4)]
    await job.until(lambda: len(job.got) >= 4)
    await job.source.stop_accepting()
    await job.source.close()
    assert [word for _, word in log.said[-2:]] == ["-NAK", "-NAK"]
