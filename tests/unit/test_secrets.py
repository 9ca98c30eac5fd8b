"""Keys and other secrets: which texts are any, and none of them is shown (promise R39)."""

import base64
import time

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from svc.api_keys import fingerprint, parse, parse_signing_secret, refuse_secrets, without_line_end
from svc.errors import AuthError, ExitCode, UsageError
from svc.redaction import redact
from svc.service.facts import KEY_PREFIXES, KEY_PREFIXES_IN_BASE64, SANDBOX_KEYS

TAIL = "4eC39HqLyjWDarjtT1zdp7dc"


@pytest.mark.parametrize(
    ("prefix", "kind", "mode"),
    [
        ("sk_test_", "secret", "test"),
        ("sk_live_", "secret", "live"),
        ("pk_test_", "publishable", "test"),
        ("pk_live_", "publishable", "live"),
        ("rk_test_", "restricted", "test"),
        ("rk_live_", "restricted", "live"),
    ],
)
def test_the_prefix_says_kind_and_mode(prefix: str, kind: str, mode: str) -> None:
    """Spec: Authentication, the table of keys."""
    key = parse(prefix + TAIL, "stdin")
    assert (key.kind, key.mode) == (kind, mode)
    assert key.fingerprint == f"{prefix}…p7dc"
    assert not key.is_public_constant


@pytest.mark.parametrize("secret", sorted(SANDBOX_KEYS.values()))
def test_the_sandbox_keys_are_known_as_public(secret: str) -> None:
    """R21: everybody knows them, so no rule protects them."""
    assert parse(secret, "stdin").is_public_constant


def test_a_key_never_shows_itself() -> None:
    """R39: neither in a log nor in a traceback's locals."""
    key = parse(f"sk_live_{TAIL}", "stdin")
    assert TAIL[:-4] not in f"{key} {key!r} {[key]}"


@pytest.mark.parametrize(
    ("secret", "shown"),
    [
        ("sk_test_12345678", "sk_test_…"),
        ("sk_test_123456789012", "sk_test_…9012"),
        (f"whsec_{TAIL}", "whsec_…p7dc"),
        ("whsec_short", "whsec_…"),
        ("hunter2", "…"),
    ],
)
def test_a_fingerprint_of_a_short_secret_shows_no_tail(secret: str, shown: str) -> None:
    """Four characters of eight would be half of the secret."""
    assert fingerprint(secret) == shown


@pytest.mark.parametrize(
    "text",
    [
        *("", " ", "sk_test_", "sk_prod_abc", "sk-test-abc", "SK_TEST_ABC", TAIL),
        *(f" sk_test_{TAIL}", f"sk_test_{TAIL} ", f"sk_test_{TAIL}\n\n", f"sk_test_{TAIL}\r"),
        *(f"sk_test_{TAIL}\r\n", "sk_test_ab cd", "sk_test_ab\tcd", "sk_test_ab\0cd"),
        *("sk_test_äöü", "sk_test_ab\u200bcd", "sk_test_" + "a" * 600),
    ],
)
def test_what_is_no_key_is_refused_without_being_shown(text: str) -> None:
    """R44: exit 2, naming the source; the message does not repeat what may be a secret."""
    with pytest.raises(UsageError) as caught:
        parse(text, "SVC_API_KEY")
    assert caught.value.exit_code == ExitCode.USAGE
    assert caught.value.message.startswith("SVC_API_KEY holds no ")
    assert TAIL not in caught.value.message


@pytest.mark.parametrize(
    ("piped", "kept"),
    [("k\n", "k"), ("k", "k"), ("k\n\n", "k\n"), ("k\r\n", "k\r"), (" k\n", " k"), ("\n", "")],
)
def test_one_line_end_is_taken_off_and_nothing_else(piped: str, kept: str) -> None:
    """R44: anything more would change a secret silently."""
    assert without_line_end(piped) == kept


def test_a_signing_secret_is_taken_as_it_is() -> None:
    """The whole string, prefix included, is the key of the signature."""
    assert parse_signing_secret(f"whsec_{TAIL}", "stdin") == f"whsec_{TAIL}"


@pytest.mark.parametrize(
    "text", ["", "whsec_", TAIL, f" whsec_{TAIL}", f"whsec_{TAIL}\n", "whsec_a b", "WHSEC_abc"]
)
def test_what_is_no_signing_secret_is_refused(text: str) -> None:
    """R48: empty, without whsec_, or padded."""
    with pytest.raises(UsageError, match="signing secret"):
        parse_signing_secret(text, "stdin")


@pytest.mark.parametrize("prefix", KEY_PREFIXES)
def test_a_key_in_base64_is_one_to_all_rules(prefix: str) -> None:
    """R39, R100: what is not shown is not sent, but for what may be in a shop's page."""
    encoded = base64.b64encode(f"{prefix}{TAIL}:".encode()).decode()
    assert KEY_PREFIXES_IN_BASE64[encoded[:10]] == prefix
    assert redact(encoded) == "…"
    if prefix.startswith("pk_"):
        refuse_secrets("", encoded)
        return
    with pytest.raises(AuthError):
        refuse_secrets("", f"reason={encoded}")


def test_base64_of_what_only_begins_like_a_key_is_sent() -> None:
    """It is no secret, and is shown as it is: both rules go to the prefix's end."""
    encoded = base64.b64encode(b"sk_testimonials-of-2026").decode()
    assert redact(encoded) == encoded
    refuse_secrets("", encoded)


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
