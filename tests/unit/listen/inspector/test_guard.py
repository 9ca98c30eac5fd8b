"""Who may use the inspector: its address opens it, and no other page drives it."""

from contextlib import nullcontext
from typing import cast

import pytest
from starlette.requests import Request

from svc.listen.http.requests import Refused
from svc.listen.inspector.http import GuardedPages, Respond, body_of, make_token

TOKEN = "0123456789abcdef0123456789abcdef"
PORT = 4244
HOST = "127.0.0.1:4244"
OWN = f"http://{HOST}"


def status(method: str = "GET", target: str = f"/{TOKEN}/", **headers: str) -> int:
    """What the guard says to one head; 200 stands for letting it pass."""
    named = {"Host": HOST, **{name.replace("_", "-"): text for name, text in headers.items()}}
    pairs = [(name.lower().encode(), value.encode()) for name, value in named.items() if value]
    scope = {"type": "http", "method": method, "raw_path": target.encode(), "headers": pairs}
    try:
        GuardedPages(TOKEN, PORT, cast("Respond", None)).check(scope)
    except Refused as refusal:
        return refusal.status
    return 200


@pytest.mark.parametrize("host", [HOST, "localhost:4244", "LOCALHOST:4244"])
def test_guard_knows_its_own_names(host: str) -> None:
    """The page is reached by both names of this machine."""
    assert status(Host=host) == 200


@pytest.mark.parametrize(
    "host",
    ["", "127.0.0.1", "localhost", "127.0.0.1:80", "evil.example:4244", "[::1]:4244", "0:4244"],
)
def test_guard_refuses_other_hosts(host: str) -> None:
    """A name that somebody points at 127.0.0.1 is not ours (DNS rebinding, promise R55)."""
    assert status(Host=host) == 421


@pytest.mark.parametrize(
    "target",
    [
        "/",
        "//",
        f"/{TOKEN}",
        f"/{TOKEN[:-1]}/",
        f"/{TOKEN[:-1]}0/",
        f"/{TOKEN.upper()}/",
        f"//{TOKEN}/",
        f"/x/../{TOKEN}/",
        f"/%30{TOKEN[1:]}/",
        "/style.css",
        "/delivery/evt_1/replay",
    ],
)
@pytest.mark.parametrize("method", ["GET", "POST"])
def test_guard_answers_404_without_the_token(target: str, method: str) -> None:
    """Everything needs the token, whoever asks (promise R56)."""
    assert status(method, target, Origin=OWN) == 404


@pytest.mark.parametrize("method", ["PUT", "DELETE", "OPTIONS", "HEAD", "TRACE", "PATCH"])
def test_guard_knows_two_methods(method: str) -> None:
    """There is no answer to a preflight, so no page elsewhere may read ours."""
    assert status(method) == 404


@pytest.mark.parametrize(
    ("headers", "expected"),
    [
        ({}, 200),
        ({"Sec_Fetch_Site": "none"}, 200),
        ({"Sec_Fetch_Site": "same-origin"}, 200),
        ({"Origin": OWN}, 200),
        ({"Origin": "null"}, 403),
        ({"Origin": "https://evil.example"}, 403),
        ({"Sec_Fetch_Site": "same-site"}, 403),
        ({"Sec_Fetch_Site": "cross-site"}, 403),
        ({"Sec_Fetch_Site": "cross-site", "Sec_Fetch_Mode": "no-cors"}, 403),
        (
            {
                "Sec_Fetch_Site": "cross-site",
                "Sec_Fetch_Mode": "navigate",
                "Sec_Fetch_Dest": "document",
            },
            200,
        ),
        (
            {
                "Sec_Fetch_Site": "cross-site",
                "Sec_Fetch_Mode": "navigate",
                "Sec_Fetch_Dest": "iframe",
            },
            403,
        ),
    ],
)
def test_guard_lets_people_read(headers: dict[str, str], expected: int) -> None:
    """A person may follow the address from anywhere; a page may not load it into itself."""
    assert status("GET", **headers) == expected


@pytest.mark.parametrize(
    ("headers", "expected"),
    [
        ({}, 403),
        ({"Origin": OWN}, 200),
        ({"Origin": "http://localhost:4244"}, 403),
        ({"Origin": "null"}, 403),
        ({"Origin": "https://evil.example"}, 403),
        ({"Sec_Fetch_Site": "same-origin"}, 200),
        ({"Sec_Fetch_Site": "same-origin", "Origin": "null"}, 200),
        ({"Sec_Fetch_Site": "same-origin", "Origin": OWN}, 200),
        ({"Sec_Fetch_Site": "same-origin", "Origin": "https://evil.example"}, 403),
        ({"Sec_Fetch_Site": "cross-site", "Origin": OWN}, 403),
        ({"Sec_Fetch_Site": "same-site", "Origin": "null"}, 403),
        ({"Sec_Fetch_Site": "none"}, 403),
    ],
)
def test_guard_lets_only_our_pages_act(headers: dict[str, str], expected: int) -> None:
    """A form of anybody else's is refused although it knows the token (CSRF)."""
    assert status("POST", **headers) == expected


@pytest.mark.parametrize("more", [0, 1])
async def test_head_and_form_have_sixteen_kibibytes(more: int) -> None:
    """R57: and not a byte more; names count like values, and a form in pieces like a whole one."""
    room = 16 * 1024 + more - len("host") - len(HOST)
    fields = {"X" * 8000: "y" * (room - 8000)}
    assert status(**fields) == (431 if more else 200)
    pieces = [b"x" * 10_000, b"x" * (6_384 + more), b""]

    async def receive() -> dict[str, object]:
        return {"type": "http.request", "body": pieces.pop(0), "more_body": bool(pieces)}

    with pytest.raises(Refused, match="413") if more else nullcontext():
        assert len(await body_of(Request({"type": "http"}, receive))) == 16 * 1024


def test_tokens_are_new_each_time() -> None:
    """128 bits, never the same."""
    tokens = {make_token() for _ in range(100)}
    assert len(tokens) == 100
    assert {len(token) for token in tokens} == {32}
