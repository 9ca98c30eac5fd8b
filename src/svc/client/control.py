"""Calls to a sandbox's controls; they refuse to reach anything else (contract F, J.11)."""

from collections.abc import Callable
from types import TracebackType
from typing import Self

from svc.client import chance, guards
from svc.client.attempts import Finding, Meaning
from svc.client.call import Call
from svc.client.deadline import Deadline
from svc.client.exchange import RawReply, Wire, WireRequest
from svc.client.judge import judged
from svc.client.prepared import prepare
from svc.client.refusals import error as refused
from svc.client.replies import Reply, reply_of, understood
from svc.client.retry import OPEN
from svc.clock import Clock, SystemClock
from svc.errors import NetworkError, OutcomeUnknown, SvcError, UsageError
from svc.origin import BaseUrl
from svc.spec import SANDBOX_HEADER, SANDBOX_ROOT

HEALTH = Call("GET", "/_sandbox/health")
_CONNECT_SECONDS = 3.0


class Control:
    """Sends control calls to one address once its health check proved a sandbox there.

    There are no further attempts: the controls take no idempotency key and move no money.

    Args:
        base_url: must be this machine.
        deadline_seconds: for one call; advancing the clock may take long.

    Raises:
        UsageError: when the address is not on this machine.
    """

    def __init__(
        self,
        base_url: BaseUrl,
        *,
        deadline_seconds: float = 60.0,
        clock: Clock | None = None,
        wire: Wire | None = None,
        new_key: Callable[[], str] = chance.uuid4,
        ca_bundle: str | None = None,
    ) -> None:
        if not base_url.is_loopback:
            raise _no_sandbox(base_url, "it is not on this machine")
        self.base_url = base_url
        self._clock = clock or SystemClock()
        self._deadline_seconds = deadline_seconds
        self._new_key = new_key
        self._wire = wire or _socket_wire(base_url, self._clock, ca_bundle)
        self._health: Reply | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Closes the connection."""
        self._wire.close()

    def health(self) -> Reply:
        """Proves that a sandbox answers: `object` is `sandbox`; also gives its clock.

        Raises:
            UsageError: something else answers there.
            NetworkError: nothing answers there.
        """
        if self._health is None:
            try:
                reply = self._exchange(HEALTH, None, ())
            except SvcError as error:
                if error.status is None:
                    raise
                raise _no_sandbox(self.base_url, "what answers there is none") from None
            if not isinstance(reply.data, dict) or reply.data.get("object") != "sandbox":
                raise _no_sandbox(self.base_url, "what answers there is none")
            self._health = reply
        return self._health

    def send(self, call: Call, *, key: str | None = None, accept: tuple[int, ...] = ()) -> Reply:
        """Sends a control call, after the health check.

        `key` is a publishable key, for the checkout alone. `accept` lists error statuses to be
        given back as replies, such as 402 for a declined card, whose body says more than an error.

        Raises:
            UsageError: no sandbox is there.
            ApiError: the sandbox refused the call.
            NetworkError, OutcomeUnknown: no answer came; the second when the call was sent.
        """
        self.health()
        return self._exchange(call, key, accept)

    def _exchange(self, call: Call, key: str | None, accept: tuple[int, ...]) -> Reply:
        result = self._wire.exchange(
            self._request(call, key),
            deadline=Deadline(self._clock, self._deadline_seconds),
            connect_seconds=_CONNECT_SECONDS,
        )
        if isinstance(result, RawReply) and result.status in accept:
            finding = understood(result, call)
        else:
            finding = judged(result, call, self._clock.now())
        if finding.meaning is Meaning.DONE:
            return reply_of(finding, attempts=1)
        raise self._failed(call, finding)

    def _request(self, call: Call, key: str | None) -> WireRequest:
        prepared = prepare(call, self.base_url, new_key=self._new_key, root=SANDBOX_ROOT)
        own = [("Host", self.base_url.host_header), (SANDBOX_HEADER, "1")]
        if key is not None:
            own.append(("Authorization", guards.authorization(guards.publishable(key), "bearer")))
        headers = (*own, *prepared.headers)
        return WireRequest(prepared.method, prepared.target, headers, prepared.body)

    def _failed(self, call: Call, finding: Finding) -> SvcError:
        if finding.refusal is not None:
            return refused(call, finding)
        what = f"The sandbox at {self.base_url} gave no usable answer to {call.path}"
        if call.changes and finding.meaning in OPEN:
            return OutcomeUnknown(
                f"{what}: {finding.detail}.", status=finding.status, outcome="unknown"
            )
        return NetworkError(
            f"{what}: {finding.detail}.",
            status=finding.status,
            outcome="not_sent" if call.changes else None,
            hint="Is it running? svc sandbox status",
        )


def _no_sandbox(base_url: BaseUrl, why: str) -> UsageError:
    return UsageError(
        f"{base_url} is no sandbox: {why}.",
        code="not_a_sandbox",
        param="base_url",
        hint="Start one with: svc sandbox start",
    )


def _socket_wire(base_url: BaseUrl, clock: Clock, ca_bundle: str | None) -> Wire:
    from svc.client.wire.sockets import SocketWire

    return SocketWire(base_url, clock=clock, ca_bundle=ca_bundle)
