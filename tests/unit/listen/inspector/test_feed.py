"""What open pages of the inspector are told."""

import asyncio
from collections.abc import AsyncGenerator
from typing import cast

import pytest
from starlette.responses import StreamingResponse

from svc.listen.inspector import feed, http
from svc.listen.output_records import EventReceived, Ready, Rejected


async def test_an_open_page_gets_a_sign_of_life_as_long_as_it_is_open(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Where nothing happens a browser that is gone is noticed by what cannot be sent to it."""
    monkeypatch.setattr(feed, "_BEAT_SECONDS", 0.001)
    told: asyncio.Queue[bytes] = asyncio.Queue()
    news = feed.Feed()
    assert news.watch(told.put_nowait)
    first, *beats = [await told.get() for _ in range(4)]
    assert first == b'data: {"received": 0, "rejected": 0}\n\n'
    assert beats == [b":\n\n"] * 3
    news.leave(told.put_nowait)


async def test_news_of_one_moment_are_one_and_are_told_once_more(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Soon, and again when what became of it is in the inbox; what comes meanwhile begins anew."""
    monkeypatch.setattr(feed, "_SOON_SECONDS", 0.001)
    monkeypatch.setattr(feed, "_ECHO_SECONDS", 0.02)
    told: asyncio.Queue[bytes] = asyncio.Queue()
    news = feed.Feed()
    news.watch(told.put_nowait)
    come, turned_away = object.__new__(EventReceived), Rejected(0.0, "", "", 0)
    for record in (come, turned_away, come, object.__new__(Ready)):
        news.emit(record)
    begun, soon = await told.get(), await told.get()
    assert (begun, soon) == tuple(
        b'data: {"received": %d, "rejected": %d}\n\n' % counts for counts in ((0, 0), (2, 1))
    )
    news.emit(turned_away)
    later = [await told.get() for _ in range(2)]
    assert later == [b'data: {"received": 2, "rejected": 2}\n\n'] * 2
    await asyncio.sleep(0.03)
    assert told.empty()
    assert [one.number for one in news.turned_away] == [2, 1]
    assert [one and one.number for one in map(news.find, (1, 2, 3))] == [1, 2, None]


async def test_sixteen_pages_are_told_and_each_that_leaves_makes_room() -> None:
    """R57: a page that is open costs little, and any number of them not much more."""
    news = feed.Feed()
    stream = cast("StreamingResponse", http.stream(news))
    page = cast("AsyncGenerator[bytes, None]", stream.body_iterator)
    assert await anext(page) == b"retry: 2000\n\n"
    others = [list[bytes]().append for _ in range(16)]
    assert [news.watch(push) for push in others] == [True] * 15 + [False]
    await page.aclose()
    assert [news.watch(push) for push in others[-1:] * 2] == [True, False]
    refused = cast("StreamingResponse", http.stream(news)).body_iterator
    assert [line async for line in refused] == []
