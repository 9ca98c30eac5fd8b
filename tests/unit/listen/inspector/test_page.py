"""What pages make of texts, of payloads and of a delivery as a command, at their limits."""

import json
from typing import Any

import pytest

from svc.listen.inbox.history import Content
from svc.listen.inspector.app import curl
from svc.listen.inspector.page import format_raw, header, mask, status_text, tree
from unit.listen.inspector.seen import seen


def drawn(value: Any) -> list[str]:
    """A payload's lines, but for the empty one of the list itself."""
    found = tree(json.dumps(value).encode())
    assert found is not None
    return seen(found, "/")


def test_text_is_shown_up_to_a_thousand_characters() -> None:
    """Of a longer one the beginning, and how much is left out."""
    assert mask("x" * 1000) == "x" * 1000
    assert mask("x" * 1234 + "yz") == f"{'x' * 1000} … 236 characters left out"
    assert mask("x" * 3001) == f"{'x' * 1000} … 2,001 characters left out"


def test_body_is_shown_up_to_256_kibibytes() -> None:
    """Each of its lines for itself, so that many short ones are whole."""
    body = b"x" * 1023 + b"\n"
    assert format_raw(body) == f"{'x' * 1000} … 23 characters left out\n"
    assert format_raw(b"ab\n" * 87_381 + b"c") == "ab\n" * 87_381 + "c"
    assert format_raw(b"ab\n" * 87_381 + b"cd") == "ab\n" * 87_381 + "c\n… 1 more bytes"
    assert format_raw(b"\xff\xfe") == "\\xff\\xfe"


def test_payload_is_drawn_up_to_256_kibibytes() -> None:
    """A larger one is shown raw, and so is what is no object or list."""
    body = b'{"a":1}'.ljust(256 * 1024)
    assert seen(tree(body) or "", "/") == ["a : 1"]
    assert tree(body + b" ") is None
    assert [tree(one) for one in (b"7", b'"a"', b"", b"\xff", b"[" * 9000)] == [None] * 5


def test_two_thousand_members_are_drawn() -> None:
    """However they are spread; in place of the others stands how many they are."""
    assert drawn(list(range(2000)))[-1] == "1999 : 1999"
    assert drawn(list(range(2003)))[-2:] == ["1999 : 1999", "3 more: see Raw"]
    whole = drawn({"a": list(range(1500)), "b": {str(n): n for n in range(1500)}})
    assert whole[-2:] == ["497 : 497", "1,002 more: see Raw"]


def test_payload_is_drawn_24_levels_deep_and_two_of_them_open() -> None:
    """What lies deeper than two levels is folded; what is empty says so in its place."""
    value: dict[str, Any] = {"last": [7], "none": {}}
    for level in range(23, 0, -1):
        value = {f"l{level}": value}
    opened = ["▾ l1 {1}", "▾ l2 {1}"]
    folded = [f"▸ l{level} {{1}}" for level in range(3, 23)]
    assert drawn(value) == [*opened, *folded, "▸ l23 {2}", "▸ last [1]", "0 : 7", "none : {}"]
    assert drawn({"l0": value})[-2:] == ["last : deeper: see Raw", "none : {}"]
    assert drawn([[]]) == ["0 : []"]
    assert drawn([[True, None, 1.50, "a\nb"]]) == [
        "▾ 0 [4]",
        "0 : true",
        "1 : null",
        "2 : 1.5",
        '3 : "a\\nb"',
    ]


def test_payload_is_drawn_as_it_is_spelled() -> None:
    """A number as its sender wrote it, and twice where it was written twice."""
    body = b'{"fx":1.10,"big":1e400,"n":12345678901234567890,"a":1,"a":2}'
    shown = ["fx : 1.10", "big : 1e400", "n : 12345678901234567890", "a : 1", "a : 2"]
    assert seen(tree(body) or "", "/") == shown


@pytest.mark.parametrize("name", ["Authorization", "cookie", "Proxy-Authorization", "Set-Cookie"])
def test_header_with_a_credential_is_named_and_no_more(name: str) -> None:
    assert header((name.encode(), b"abc")) == (name, "…")
    assert header((f"X-{name}".encode(), b"abc")) == (f"X-{name}", "abc")


def test_answer_that_never_came_is_named() -> None:
    said = [status_text(None), status_text(404), status_text(299)]
    assert said == ["No answer", "404 Not Found", "299"]


@pytest.mark.parametrize(
    ("body", "inline"),
    [
        (b"", True),
        (b"a\n" * 32_768, True),
        (b"a\n" * 32_768 + b"b", False),  # over 64 KiB: no shell takes much more
        (b"x" * 1001, False),
        (b"\xff", False),
        (b"\x1b[2J", False),
        (b"whsec_" + b"c" * 24, False),
    ],
    ids=["empty", "64KiB", "over", "long-line", "no-text", "escape", "secret"],
)
@pytest.mark.parametrize("url", ["http://localhost:1/a b", None])
def test_delivery_as_a_command(body: bytes, inline: bool, url: str | None) -> None:
    """To its target, or to one that is yet to be named; what must not be shown is read instead."""
    command = curl("evt_1", url, b"X-A: it's\r\n", Content(b"", body))
    where = "'http://localhost:1/a b'" if url else '"$TARGET"'
    send = f"curl -sS -i -X POST {where} -H 'X-A: it'\"'\"'s' --data"
    reads = "svc events inbox show evt_1 -o json --query payload_base64 | tr -d '\"' | base64 -d | "
    if inline:
        assert command == f"{send}-raw '{body.decode()}'"
    else:
        assert command == f"{reads}{send}-binary @-"
