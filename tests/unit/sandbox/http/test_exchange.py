"""Bodies of requests: to a limit in size and in time."""

import asyncio
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import pytest

from svc.sandbox.http.exchange import AsgiRequest, Limit, Receive
from svc.sandbox.parameters.problems import Problem

_ASKS_FIRST = {b"content-length": "5", b"expect": "100-continue"}


def reading(
    *messages: dict[str, Any], limit: Limit, headers: Mapping[bytes, str] = MappingProxyType({})
) -> bytes:
    """Reads a body that arrives in pieces and then stalls."""
    waiting = list(messages)

    async def receive() -> dict[str, Any]:
        if not waiting:
            await asyncio.sleep(60)
        return waiting.pop(0)

    return asyncio.run(read(headers, receive, limit))


async def read(headers: Mapping[bytes, str], receive: Receive, limit: Limit) -> bytes:
    """Reads the body of a request; raises Problem where it is refused."""
    head = [(name, text.encode()) for name, text in headers.items()]
    scope = {"method": "POST", "path": "/", "query_string": b"", "headers": head}
    request = AsgiRequest(scope, receive)
    await request.read(limit)
    return request.content


def piece(body: bytes, *, more: bool = True) -> dict[str, Any]:
    return {"type": "http.request", "body": body, "more_body": more}


def test_body_is_put_together_up_to_its_limit() -> None:
    """A body as large as the limit is read; not a byte more."""
    parts = piece(b"abc"), piece(b"de", more=False)
    assert reading(*parts, limit=Limit(5), headers={b"content-length": "5"}) == b"abcde"
    with pytest.raises(Problem) as caught:
        reading(*parts, limit=Limit(4))
    assert (caught.value.status, caught.value.code) == (413, "request_too_large")


def test_announced_length_is_refused_before_anybody_is_told_to_go_on() -> None:
    """Who asks first (`Expect: 100-continue`) need not send what would be refused."""
    with pytest.raises(Problem) as caught:
        reading(limit=Limit(4, seconds=1), headers=_ASKS_FIRST)
    assert caught.value.status == 413


def test_what_was_sent_of_a_large_body_is_read_and_let_go() -> None:
    """Up to 8 MiB, so that who is still sending can read the answer; no more than that."""
    mega = b"x" * 1024**2
    for sent, left in ((3, 0), (20, 12)):
        waiting = [piece(mega) for _ in range(sent)]
        waiting[-1]["more_body"] = False

        async def receive(waiting: list[dict[str, Any]] = waiting) -> dict[str, Any]:
            return waiting.pop(0)

        headers = {b"content-length": str(sent * 1024**2)}
        with pytest.raises(Problem) as caught:
            asyncio.run(read(headers, receive, Limit(1024)))
        assert (caught.value.status, len(waiting)) == (413, left)


def test_body_that_stalls_is_refused() -> None:
    """408 when the limit of time is over, and the connection is not used again."""
    with pytest.raises(Problem) as caught:
        reading(piece(b"abc"), limit=Limit(5, seconds=0.01))
    assert (caught.value.status, caught.value.code) == (408, "request_timeout")
    assert caught.value.headers == {"Connection": "close"}


class Cycle:
    """What uvicorn hands over: a body that has come as far as it says, and then stalls."""

    def __init__(self, *, more_body: bool) -> None:
        self.more_body = more_body
        self.body = b"abc"

    async def receive(self) -> dict[str, Any]:
        if not self.body:
            await asyncio.sleep(60)
        body, self.body = self.body, b""
        return piece(body, more=self.more_body)


def test_server_that_knows_how_far_a_body_has_come_is_believed() -> None:
    """What is whole is read; half of one is waited for no longer than any other."""
    whole, half = (Cycle(more_body=more) for more in (False, True))
    limit = Limit(5, seconds=0.01)
    assert asyncio.run(read({}, whole.receive, limit)) == b"abc"
    with pytest.raises(Problem) as caught:
        asyncio.run(read({}, half.receive, limit))
    assert caught.value.code == "request_timeout"
