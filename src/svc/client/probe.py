"""Checks without a key whether the service answers, and reads its clock, for `svc doctor`."""

from typing import NamedTuple

from svc.base_url import BaseUrl
from svc.client.exchange import Deadline, Failure, Wire, WireRequest, header
from svc.client.operations import build_list
from svc.client.reply import read_server_time
from svc.client.request import prepare, uuid4
from svc.client.retry import http_date
from svc.clock import Clock
from svc.service.facts import SANDBOX_TIME_HEADER

_HALF = 0.5  # a Date header has whole seconds; on average half of one has passed


class Reached(NamedTuple):
    """An answer with any status.

    Attributes:
        milliseconds: for name resolution, connection, TLS and answer together.
        skew: seconds by which this machine's clock is ahead of the service's; None if the answer
            has no valid `Date`.
        turned: seconds by which a sandbox's clock is ahead of this machine's; None for any other
            service.
    """

    status: int
    milliseconds: float
    skew: float | None
    turned: float | None = None


def probe(base_url: BaseUrl, *, wire: Wire, clock: Clock, seconds: float) -> Reached | Failure:
    """Requests a list of one order, once and within `seconds`; sends no API key (R28)."""
    call = build_list("order", {"limit": 1})
    prepared = prepare(call, base_url, new_key=uuid4)
    request = WireRequest(
        prepared.method,
        prepared.target,
        (("Host", base_url.host_header), *prepared.headers),
        prepared.body,
    )
    begun, began_at = clock.monotonic(), clock.now()
    answer = wire.exchange(request, deadline=Deadline(clock, seconds), connect_seconds=seconds)
    took = clock.monotonic() - begun
    if isinstance(answer, Failure):
        return answer
    served = http_date(header(answer.headers, "date") or "")
    skew = None if served is None else began_at + took / 2 - (served + _HALF)
    own = read_server_time(answer.headers) if header(answer.headers, SANDBOX_TIME_HEADER) else None
    turned = None if own is None else own - began_at - took / 2
    return Reached(answer.status, took * 1000, skew, turned)
