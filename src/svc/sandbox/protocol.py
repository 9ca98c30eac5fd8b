"""uvicorn's HTTP/1.1, with an end to waiting and with errors in the API's shape."""

import asyncio
import json
from http import HTTPStatus
from typing import Final

from uvicorn.protocols.http.h11_impl import H11Protocol

HEAD_SECONDS: Final = 10.0  # for a request line and headers once their first byte is there

_Refusal = tuple[HTTPStatus, str, str]
_INVALID: Final[_Refusal] = (
    HTTPStatus.BAD_REQUEST,
    "http_invalid",
    "The request is no valid HTTP/1.1.",
)
_LATE: Final[_Refusal] = (
    HTTPStatus.REQUEST_TIMEOUT,
    "request_timeout",
    f"The head of the request was not there after {HEAD_SECONDS:g} seconds.",
)


class PatientProtocol(H11Protocol):
    """One connection. It may be silent as long as an idle one, and no request stays half said."""

    _head_timer: asyncio.TimerHandle | None = None

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
            self._head_timer = self.loop.call_later(HEAD_SECONDS, self._refuse, _LATE)

    def send_400_response(self, msg: str) -> None:  # noqa: ARG002  in uvicorn's own words
        self._refuse(_INVALID)

    @property
    def _between_requests(self) -> bool:
        return self.cycle is None or self.cycle.response_complete

    def _stop_timer(self) -> None:
        if self._head_timer is not None:
            self._head_timer.cancel()
            self._head_timer = None

    def _refuse(self, why: _Refusal) -> None:
        """Answers what is no request, unless an answer is under way, and closes the connection."""
        self._stop_timer()
        if self._between_requests or not self.cycle.response_started:
            self.transport.write(_answer(*why))
        self.transport.close()


def _answer(status: HTTPStatus, code: str, message: str) -> bytes:
    said = {"type": "invalid_request_error", "code": code, "message": message}
    body = json.dumps(said).encode()
    head = (
        f"HTTP/1.1 {status.value} {status.phrase}\r\n"
        "Content-Type: application/json; charset=utf-8\r\n"
        f"Content-Length: {len(body)}\r\n"
        "Connection: close\r\n\r\n"
    )
    return head.encode() + body
