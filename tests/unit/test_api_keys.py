"""What a key's text says, and which texts are no keys."""

import base64

import pytest

from svc.api_keys import (
    fingerprint,
    parse,
    parse_signing_secret,
    refuse_secrets,
    without_line_end,
)
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
        "",
        " ",
        "sk_test_",
        "sk_prod_abc",
        "sk-test-abc",
        "SK_TEST_ABC",
        TAIL,
        f" sk_test_{TAIL}",
        f"sk_test_{TAIL} ",
        f"sk_test_{TAIL}\n\n",
        f"sk_test_{TAIL}\r",
        f"sk_test_{TAIL}\r\n",
        "sk_test_ab cd",
        "sk_test_ab\tcd",
        "sk_test_ab\0cd",
        "sk_test_äöü",
        "sk_test_ab\u200bcd",
        "sk_test_" + "a" * 600,
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
