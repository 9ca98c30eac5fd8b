"""Secrets in text (promise R39)."""

import base64
import time

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from svc.redaction import redact

KEY = "sk_test_CANARYabcdefgh0123456789"


@pytest.mark.parametrize(
    "text",
    [
        KEY,
        f"you_sent_{KEY}",
        f"x{KEY}.",
        f"%3D{KEY}",
        f"\\n{KEY}",
        '{"code":"' + KEY + '"}',
        "rk_live_CANARY-with/other+signs",
        "whsec_CANARYabcdefgh0123456789",
        "ord_abc_secret_CANARYabcdefgh",
        "Authorization: Bearer CANARYabcdefgh",
        "Basic " + base64.b64encode(f"{KEY}:".encode()).decode(),
        base64.b64encode(f"{KEY}:".encode()).decode(),
        "https://CANARY:CANARY@api.example.com/",
        "http://user:CANARY@CANARY@host/",
        "user:CANARY@proxy.example:3128",
        "http://USER:PASSWORD@x:CANARY@proxy.example:3128",
    ],
)
def test_nothing_of_a_secret_is_left_but_its_prefix_and_end(text: str) -> None:
    """R39, R40: wherever it stands and however it is spelled."""
    shown = redact(text)
    assert "CANARY" not in shown
    assert base64.b64encode(b"CANARY").decode()[:6] not in shown


@pytest.mark.parametrize("prefix", ["sk_test_", "sk_live_", "rk_test_", "rk_live_", "pk_live_"])
@pytest.mark.parametrize("around", ["{}", "you sent {}", 'a="{}"', "Authorization: {}"])
def test_nothing_of_an_encoded_key_is_left(prefix: str, around: str) -> None:
    """R39: base64 of `key:`, as Basic authentication has it, without the word before it."""
    encoded = base64.b64encode(f"{prefix}CANARYabcdefgh0123456789:".encode()).decode()
    shown = redact(around.format(encoded))
    assert not any(encoded[start : start + 6] in shown for start in range(len(encoded) - 6))


@pytest.mark.parametrize(
    "text",
    [
        "No such order: ord_3kPq0aVb7cXd9eYf1gZh2iWj.",
        "10:38:16.446    200 OK  http://localhost:3000/webhooks  2 ms",
        "mail ada@example.com at 10:30",
        "the key sk_live_…p7dc of profile shop, whsec_…adsV",
        "req_WRZMuyqxepNi4A1Rt9cdkJcV",
        "svc requests resume rq_b36mc2tfx47cmbqkydfb",  # by chance as base64 of sk_ begins
        "pay_9c2tfXqWRZMuyqxepNi4A1Rt",
        "https://api.example.com/v1/orders?limit=1",
        "SVC_PROXY=http://USER:PASSWORD@HOST:PORT",
    ],
)
def test_plain_text_stays(text: str) -> None:
    """What is no secret is not touched."""
    assert redact(text) == text


@pytest.mark.parametrize("piece", [".", "a", "a.", "a:", "a:b", "://", "sk_test_", "basic ", "é"])
def test_a_long_run_of_anything_is_read_in_linear_time(piece: str) -> None:
    """A service's error of a megabyte must not stop the program: twice as long, not four times."""

    def seconds(length: int) -> float:
        text = piece * (length // len(piece))
        begun = time.process_time()
        redact(text)
        return time.process_time() - begun

    short = min(seconds(30_000) for _ in range(3))
    assert seconds(120_000) < 12 * short + 0.05


_PIECES = (
    *(
        "sk_test_",
        "RK_live_",
        "pk_test_abcdefgh",
        "whsec_",
        "_secret_",
        "ord_1",
        "Basic ",
        "bEARer",
    ),
    *(
        " ",
        "://",
        "@",
        ":",
        "user",
        "host",
        "c2tfdGVzdF8",
        "bGl2ZV9",
        "cGtf",
        "abcdefghi0123",
        "=",
        "…",
        "http",
    ),
)


@given(st.lists(st.sampled_from(_PIECES), max_size=8).map("".join))
@example(text="")
def test_what_is_not_looked_for_is_not_there(text: str) -> None:
    """R39: to be quick, a pattern is tried only where its mark stands; beside `é` each is tried."""
    assert redact(text) == redact(f"é {text}").removeprefix("é ")
