"""The key in use is on no stream, whoever repeats it and in whatever pieces (R39, R40)."""

import base64
import io
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from support.running import Svc
from support.servers.misbehaving import ScriptedServer
from svc.redaction import Redactor
from svc.render.output import Output
from unit.render.samples import sent

KEY = "sk_test_canary7Qx2Lw9Zp4"
BASIC = base64.b64encode(f"{KEY}:".encode()).decode()


def veiled(*pieces: str) -> str:
    redactor = Redactor(lambda: KEY)
    return "".join(redactor.through(piece) for piece in pieces) + redactor.rest()


@given(st.lists(st.integers(0, 60), max_size=6), st.text(max_size=10), st.text(max_size=10))
@example(cuts=[1], before="", after="")
@example(cuts=[len(KEY) - 1], before="", after=KEY[:4])
@example(cuts=[3, 8], before="s", after="sk_test_")
def test_a_key_in_pieces_is_masked(cuts: list[int], before: str, after: str) -> None:
    """Wherever the text is cut."""
    text = f"{before}{KEY}{after}"
    edges = sorted({0, len(text), *(min(cut, len(text)) for cut in cuts)})
    pieces = [text[a:b] for a, b in pairwise(edges)]
    assert veiled(*pieces) == f"{before}sk_test_…9Zp4{after}"


@given(st.lists(st.text(max_size=20), max_size=5))
@example(pieces=[])
@example(pieces=["sk_", "test_"])
@example(pieces=[KEY[:-1], "\n"])
def test_other_text_comes_through_as_it_is(pieces: list[str]) -> None:
    """Nothing is lost that only began like the key."""
    assert veiled(*pieces) == "".join(pieces)


@pytest.mark.parametrize("piece", ["s", "sk_test_", KEY[:-1], "class", f"x{BASIC[:9]}"])
def test_what_is_held_back_comes_at_the_next_flush(piece: str) -> None:
    """A prompt that ends in an s must not wait for ever."""
    stdout = io.StringIO()
    options: dict[str, Any] = {"color": False, "width": 80, "now": lambda: 0.0}
    out = Output(format="human", stdout=stdout, stderr=io.StringIO(), secret=lambda: KEY, **options)
    out.line(piece)
    assert stdout.getvalue() == f"{piece}\n"


def test_basic_authentication_is_masked() -> None:
    """The base64 of `key:` holds the key as well."""
    assert BASIC[:-4] not in veiled(f"Authorization: Basic {BASIC}")


@pytest.mark.parametrize("form", ["human", "json", "ndjson", "csv"])
def test_a_service_that_repeats_the_key_shows_it_to_nobody(
    svc: Svc, server: ScriptedServer, form: str
) -> None:
    """In an object, where everything else is shown as it was sent."""
    order = {"id": "ord_1", "object": "order", "livemode": False, "note": f"a{KEY}b {BASIC}"}
    server.play(server.reply(200, {"object": "list", "data": [order], "has_more": False}))
    env = {"SVC_BASE_URL": server.url, "SVC_API_KEY": KEY}
    result = svc("orders", "list", "-o", form, "--fields", "id,note", env=env)
    assert result.code == 0
    assert "canary" not in result.out + result.err
    assert BASIC[:-4] not in result.out
    assert "ord_1" in result.out
    assert sent(order)  # it was there to be shown
