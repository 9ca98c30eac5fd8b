"""What open pages of the inspector are told."""

import asyncio

import pytest

from svc.listen.inspector import feed


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
