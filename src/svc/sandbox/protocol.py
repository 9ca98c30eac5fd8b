"""uvicorn's HTTP/1.1, with an end to waiting and with errors in the API's shape."""

import asyncio
from collections.abc import Callable
from http import HTTPStatus
from typing import Any, Final

from uvicorn.protocols.http.h11_impl import H11Protocol

from svc.sandbox.exchange import Reply
from svc.sandbox.problems import Problem, http_invalid

HEAD_SECONDS: Final = 10.0  # for a request line and headers once their first byte is there

Refuse = Callable[[Problem], Reply]


def _invalid() -> Problem:
    return http_invalid("The request is no valid HTTP/1.1.")


def _late() -> Problem:
    message = f"The head of the request was not there after {HEAD_SECONDS:g} seconds."
    return Problem(408, "request_timeout", message, headers={"Connection": "close"})


class PatientProtocol(H11Protocol):
    """One connection. It may be silent as long as an idle one, and no request stays half said.

    `refuse` makes the answer to what never became a request, like every other answer of the API.
    """

    _head_timer: asyncio.TimerHandle | None = None

    def __init__(self, *args: Any, refuse: Refuse, **options: Any) -> None:
        super().__init__(*args, **options)
        self._refusal_of = refuse

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self.timeout_keep_alive_task = self.loop.call_later(
            self.timeout_keep_alive, self.timeout_keep_alive_handler
        )

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_timer()
        self._unset_keepalive_if_required()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if not self._between_requests:
            self._stop_timer()
        elif self._head_timer is None and not self.transport.is_closing():
            self._head_timer = self.loop.call_later(HEAD_SECONDS, self._refuse, _late())

    def send_400_response(self, msg: str) -> None:  # noqa: ARG002  in uvicorn's own words
        self._refuse(_invalid())

    @property
    def _between_requests(self) -> bool:
        return self.cycle is None or self.cycle.response_complete

    def _stop_timer(self) -> None:
        if self._head_timer is not None:
            self._head_timer.cancel()
            self._head_timer = None

    def _refuse(self, why: Problem) -> None:
        """Answers what is no request, unless an answer is under way, and closes the connection."""
        self._stop_timer()
        if self._between_requests or not self.cycle.response_started:
            self.transport.write(_written(self._refusal_of(why)))
        self.transport.close()


def _written(reply: Reply) -> bytes:
    status = HTTPStatus(reply.status)
    lines = [f"HTTP/1.1 {status.value} {status.phrase}".encode()]
    lines += [b"%s: %s" % line for line in reply.raw_headers()]
    return b"\r\n".join([*lines, b"", reply.body])
