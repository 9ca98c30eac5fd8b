"""The API client: sends a call in at most four identical attempts, to one definite outcome.

A command makes its `Client` by `cli.framework.session`, a batch one for each worker; reads call
`send`, recorded POSTs `deliver` (`delivery.send`). A `Call` in; a checked `Reply` out, or an error
that says whether the request was carried out.
"""

from collections.abc import Callable, Mapping
from typing import NamedTuple

from svc import api_keys
from svc.base_url import BaseUrl
from svc.client.call import Call
from svc.client.contradiction import refuse_contradiction
from svc.client.ending import CallEnd, error_of
from svc.client.exchange import (
    Deadline,
    Failure,
    RawReply,
    ShowProgress,
    Trouble,
    Wire,
    WireOwner,
    WireRequest,
    show_no_progress,
)
from svc.client.reply import (
    IsClaimedByOther,
    Reply,
    classify,
    limits_of,
    read_server_time,
    reply_of,
)
from svc.client.request import Prepared, check_version, fraction, prepare, uuid4
from svc.client.retry import (
    CLOCK_STEP_SECONDS,
    KEY_SAFE_SECONDS,
    AttemptResult,
    Meaning,
    Reason,
    RetryQuota,
    connect_seconds,
    decide,
)
from svc.clock import Clock, SystemClock
from svc.errors import ReplyContradiction, SvcError
from svc.service.facts import Auth, Mode

DEADLINE_SECONDS = 60.0
# What is found where an earlier run sent it and this one may not.
_NOT_SENT_AGAIN = AttemptResult(Meaning.UNREACHED, detail="it was not sent again")

_OUT_OF_STEP = (Meaning.FOREIGN, Meaning.UNREADABLE)


class _Sending(NamedTuple):
    """The state of one sending between its attempts.

    Attributes:
        sent_before: whether an earlier sending may have been carried out.
        began: monotonic and wall-clock seconds before the first attempt.
        is_open: whether an attempt of this sending may have been carried out.
        server_time: the service's clock in the first answer (unix seconds).
    """

    call: Call
    prepared: Prepared
    sent_before: bool
    began: tuple[float, float]
    is_open: bool = False
    server_time: float | None = None

    def after(self, finding: AttemptResult) -> "_Sending":
        """Returns the state after one more attempt."""
        served = self.server_time
        if served is None and finding.raw is not None:
            served = read_server_time(finding.raw.headers)
        return self._replace(is_open=self.is_open or finding.meaning.is_open, server_time=served)


# Called with a call, the number of an attempt, its result and the milliseconds from before
# connecting to the end of the answer.
OnAttempted = Callable[[Call, int, AttemptResult, float], None]


class Client(WireOwner):
    """Sends calls with one key to one address; belongs to one thread, like its connection.

    Args:
        base_url: where the API is.
        api_key: a secret or restricted key of `mode`.
        mode: test or live; a key of the other mode is refused.
        api_version: sent as `Svc-Version` (YYYY-MM-DD).
        deadline_seconds: total time of a call, with all attempts and waits (promise R9).
        clock: time and waiting.
        random: a number from 0 up to 1, for the waits between attempts.
        new_key: a fresh idempotency key.
        wire: carries requests; sockets if not given.
        auth: the scheme of the Authorization header.
        on_attempt: called after every attempt.
        on_reply: called after every success.
        proxy: address of a proxy, used for https only.
        ca_bundle: PEM file trusted besides the system's authorities.
        quota: retry quota that several clients share.
        expected: called for each new connection; False if another service answers there.
        show_progress: returns a context manager around each call; the function that it gives is
            called with the number of each attempt.

    Raises:
        UsageError: before anything is sent, see `api_keys.refuse_plain_http`.
        AuthError: the same, see `api_keys.refuse_out_of_place`.
    """

    def __init__(  # noqa: PLR0913  everything that is not a value is passed in
        self,
        base_url: BaseUrl,
        api_key: str,
        *,
        mode: Mode,
        api_version: str | None = None,
        deadline_seconds: float = DEADLINE_SECONDS,
        clock: Clock | None = None,
        random: Callable[[], float] = fraction,
        new_key: Callable[[], str] = uuid4,
        wire: Wire | None = None,
        auth: Auth = "bearer",
        on_attempt: OnAttempted | None = None,
        proxy: str | None = None,
        ca_bundle: str | None = None,
        quota: RetryQuota | None = None,
        expected: Callable[[], bool] | None = None,
        on_reply: Callable[[Reply], None] = lambda _: None,
        show_progress: ShowProgress = show_no_progress,
    ) -> None:
        key = api_keys.parse_to_send(api_key)
        api_keys.refuse_plain_http(base_url, key)
        api_keys.refuse_out_of_place(key, "This", mode, base_url)
        self.base_url = base_url
        self.mode = mode
        self.clock = clock or SystemClock()
        self._api_version = None if api_version is None else check_version(api_version)
        self._deadline_seconds = deadline_seconds
        self._random = random
        self._new_key = new_key
        self._api_key = api_key
        self._authorization = api_keys.authorization(api_key, auth)
        self._on_attempt = on_attempt
        self._on_reply = on_reply
        self._show_progress = show_progress
        self._quota = quota
        self._wire = wire or _socket_wire(base_url, self.clock, proxy, ca_bundle, expected)

    def prepare(self, call: Call, *, idempotency_key: str | None = None) -> Prepared:
        """Builds the exact request, so that a journal can keep it before it is sent (R2).

        Raises:
            AuthError: the request holds a secret (promises R28, R100).
        """
        return prepare(
            call,
            self.base_url,
            new_key=self._new_key,
            idempotency_key=idempotency_key,
            api_version=self._api_version,
            api_key=self._api_key,
        )

    def send(
        self, call: Call, *, idempotency_key: str | None = None, within: float | None = None
    ) -> Reply:
        """Sends a call; see `deliver` for what it raises."""
        prepared = self.prepare(call, idempotency_key=idempotency_key)
        return self.deliver(call, prepared, within=within)

    def ask(
        self,
        call: Call,
        changed: Mapping[str, str],
        *,
        idempotency_key: str | None = None,
        raw: str | None = None,
        seconds: float,
    ) -> RawReply | Failure:
        """Sends a request once and returns its answer or failure without judging it.

        `svc sandbox compare` probes a service with it. `changed` adds or replaces headers, and
        removes those whose value is empty; `raw` replaces the body.

        Raises:
            AuthError: the request holds a secret (promises R28, R100).
        """
        made = self.prepare(call, idempotency_key=idempotency_key)
        if raw is not None:
            body = raw.encode()
            changed = {**changed, "Content-Length": str(len(body))}
            made = made._replace(body=body)
        request = self._request(made, call)
        headers = {**dict(request.headers), **changed}
        request = request._replace(headers=tuple(each for each in headers.items() if each[1]))
        with self._show_progress(call.method, call.path):
            return self._wire.exchange(
                request, deadline=Deadline(self.clock, seconds), connect_seconds=seconds
            )

    def deliver(
        self,
        call: Call,
        prepared: Prepared,
        *,
        sent_before: bool = False,
        first_sent_at: float | None = None,
        within: float | None = None,
        is_claimed_by_other: IsClaimedByOther | None = None,
    ) -> Reply:
        """Sends a prepared request in up to four byte-identical attempts.

        `sent_before` says that an earlier run may have sent it, so that only a definite answer
        settles it. `first_sent_at` is when its key was first used (unix seconds; now if not
        given): no attempt repeats a key that is 23 hours old or from the future (promise R4).
        `within` shortens the deadline of this one call (seconds). `is_claimed_by_other` says of the
        id of a new object whether it is on record under another idempotency key: then the answer
        is another request's (promise R93).

        Raises:
            ApiError: the service refused it, or was too busy, or failed on a GET.
            NetworkError: it was not carried out, or a GET got no usable answer.
            OutcomeUnknown: a POST may have been carried out (promise R10).
            ReplyContradiction: the answer is of another mode, amount or currency (promise R15).
        """
        seconds = self._deadline_seconds if within is None else min(within, self._deadline_seconds)
        deadline = Deadline(self.clock, seconds)
        request = self._request(prepared, call)
        sending = _Sending(call, prepared, sent_before, self._moments())
        first = sending.began[1] if first_sent_at is None else first_sent_at
        finding = _NOT_SENT_AGAIN
        with self._show_progress(call.method, call.path) as tell:
            tell(1, None)
            attempt = 0
            while True:
                attempt += 1
                # The machine may have been asleep since the wait before this began.
                late = self._too_late(prepared, first) if sent_before or attempt > 1 else None
                if late is not None:
                    raise self._error(sending, finding, late, attempt - 1)
                finding = self._attempt(call, request, attempt, deadline, is_claimed_by_other)
                if finding.meaning is Meaning.DONE:
                    return self._accept_reply(sending, finding, attempt)
                sending = sending.after(finding)
                age = self.clock.now() - first
                wait = self._decide(call, finding, attempt, deadline.seconds_left(), age)
                if isinstance(wait, Reason):
                    raise self._error(sending, finding, wait, attempt)
                tell(attempt + 1, finding.status)
                self.clock.sleep(wait)

    def _too_late(self, prepared: Prepared, first_sent_at: float) -> Reason | None:
        """Returns why the service may have forgotten the key, and would act twice; or None (R4)."""
        if prepared.idempotency_key is None:
            return None
        age = self.clock.now() - first_sent_at
        if age < -CLOCK_STEP_SECONDS:
            return Reason.CLOCK_BEHIND
        return Reason.KEY_AGE if age >= KEY_SAFE_SECONDS else None

    def _moments(self) -> tuple[float, float]:
        return self.clock.monotonic(), self.clock.now()

    def _error(
        self, sending: _Sending, finding: AttemptResult, reason: Reason, attempts: int
    ) -> SvcError:
        error = error_of(
            CallEnd(
                sending.call,
                sending.prepared.idempotency_key,
                self.base_url,
                finding,
                reason,
                attempts,
                sending.sent_before or sending.is_open,
            )
        )
        error.server_time = sending.server_time
        return error

    def _request(self, prepared: Prepared, call: Call) -> WireRequest:
        own = (("Host", self.base_url.host_header), ("Authorization", self._authorization))
        most = limits_of(call).size
        return WireRequest(
            prepared.method, prepared.target, (*own, *prepared.headers), prepared.body, most
        )

    def _attempt(
        self,
        call: Call,
        request: WireRequest,
        attempt: int,
        deadline: Deadline,
        is_claimed_by_other: IsClaimedByOther | None,
    ) -> AttemptResult:
        begun = self.clock.monotonic()
        result = self._wire.exchange(
            request,
            deadline=deadline,
            connect_seconds=connect_seconds(attempt, deadline.seconds_left()),
        )
        finding = classify(result, call, self.clock.now(), is_claimed_by_other)
        if finding.meaning in _OUT_OF_STEP:
            self._wire.close()  # the next answer on this connection might be another's as well
        if self._on_attempt is not None:
            self._on_attempt(call, attempt, finding, (self.clock.monotonic() - begun) * 1000)
        return finding

    def _decide(
        self, call: Call, finding: AttemptResult, attempt: int, time_left: float, age: float
    ) -> float | Reason:
        decision = decide(
            finding.meaning,
            attempt=attempt,
            time_left=time_left,
            age=age,
            method=call.method,
            retry_after=finding.retry_after,
            random=self._random,
        )
        # A service that is at work on this very request is neither down nor overrun: so it answers
        # a list that was interrupted and begun again at once.
        is_strained = not isinstance(decision, Reason) and finding.meaning is not Meaning.BUSY
        if is_strained and self._quota is not None:
            timed_out = finding.trouble is Trouble.TIMEOUT
            return decision if self._quota.take(timed_out=timed_out) else Reason.QUOTA
        return decision

    def _accept_reply(self, sending: _Sending, finding: AttemptResult, attempts: int) -> Reply:
        if self._quota is not None:
            self._quota.give()
        call, key = sending.call, sending.prepared.idempotency_key
        try:
            refuse_contradiction(call, finding, mode=self.mode, idempotency_key=key)
        except ReplyContradiction as error:
            error.server_time = sending.after(finding).server_time
            raise
        # The larger of both: the monotonic clock stands still while the machine sleeps.
        spent = [now - then for now, then in zip(self._moments(), sending.began, strict=True)]
        reply = reply_of(finding, call)._replace(
            attempts=attempts, idempotency_key=key, is_repeat=sending.is_open, seconds=max(spent)
        )
        self._on_reply(reply)
        return reply


def _socket_wire(
    base_url: BaseUrl,
    clock: Clock,
    proxy: str | None,
    ca_bundle: str | None,
    expected: Callable[[], bool] | None,
) -> Wire:
    from svc.client.wire.sockets import SocketWire

    return SocketWire(base_url, clock=clock, proxy=proxy, ca_bundle=ca_bundle, expected=expected)
