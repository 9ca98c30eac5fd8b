"""Signatures at the edges of what a secret and a body may be; the vectors have the rest."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from svc.errors import SignatureError
from svc.service.facts import SECRET_PREFIX, WEBHOOK_BODY_MAX
from svc.signature import Verified, check_secret, header_value, sign, verify

SECRET = "whsec_test_4fQzN7cPq2LrTxVb9KdYhWm3"
NOW = 1_700_000_000


def reason(body: bytes, secrets: tuple[str, ...]) -> str:
    with pytest.raises(SignatureError) as caught:
        verify(body, [header_value(body, [SECRET], NOW)], secrets, NOW)
    return str(caught.value.reason)


@pytest.mark.parametrize("secret", ["", SECRET_PREFIX, " ", "whsec", f"{SECRET_PREFIX} ", "sk_a"])
def test_prefix_alone_is_no_secret(secret: str) -> None:
    """R48: an environment variable that was cut off must not make everybody's key."""
    with pytest.raises(SignatureError) as caught:
        check_secret(secret)
    assert caught.value.reason == "secret_invalid"
    assert reason(b"{}", (SECRET, secret)) == "secret_invalid"


def test_one_character_after_the_prefix_is_a_secret() -> None:
    """How long a secret is is the service's choice."""
    secret = f"{SECRET_PREFIX}a"
    check_secret(secret)
    header = header_value(b"{}", [secret], NOW)
    assert verify(b"{}", [header], [secret], NOW).secret_index == 0


def test_without_a_secret_nothing_verifies() -> None:
    """R48: it is refused as such, not as a signature that does not fit."""
    assert reason(b"{}", ()) == "secret_invalid"


def test_body_of_exactly_one_mebibyte_is_verified() -> None:
    """R57: the limit belongs to what is allowed; the next byte does not."""
    assert WEBHOOK_BODY_MAX == 1_048_576
    body = b"x" * 1_048_576
    assert verify(body, [header_value(body, [SECRET], NOW)], [SECRET], NOW).timestamp == NOW
    assert reason(body + b"x", (SECRET,)) == "body_too_large"


@pytest.mark.parametrize("edge", "!~")
def test_every_visible_character_may_stand_in_a_secret(edge: str) -> None:
    """R48: the first and the last of them, too; what lies beyond may not."""
    check_secret(f"{SECRET_PREFIX}a{edge}b")
    beyond = {"!": " ", "~": "\x7f"}[edge]
    with pytest.raises(SignatureError):
        check_secret(f"{SECRET_PREFIX}a{beyond}b")


@pytest.mark.parametrize(("digits", "found"), [(12, "timestamp_in_future"), (13, "malformed")])
def test_thirteen_digits_are_milliseconds(digits: int, found: str) -> None:
    """R46: twelve are seconds still, though of a year that is far away."""
    header = header_value(b"{}", [SECRET], 10**digits - 1)
    with pytest.raises(SignatureError) as caught:
        verify(b"{}", [header], [SECRET], NOW)
    assert found in caught.value.reason


def verdict(header: bytes) -> object:
    """When it was signed, or why it is refused."""
    try:
        return verify(b"{}", [header], [SECRET], NOW)
    except SignatureError as error:
        return error.reason, error.message


MAC = sign(b"{}", SECRET, NOW)
TIMES = st.one_of(st.just(str(NOW)), st.from_regex(r"[0-9 +٣]{0,14}", fullmatch=True))
MACS = st.one_of(
    st.sampled_from((MAC, MAC.upper(), MAC[:-1], f"{MAC}0", f"{MAC}\n", f" {MAC}", "g" * 64)),
    st.from_regex(r"[0-9a-f]{63,65}", fullmatch=True),
)


@given(TIMES, MACS)
@example(time=str(NOW), mac=MAC)
@example(time=str(NOW), mac=MAC[:-1])
@example(time="", mac=MAC)
@example(time=f"+{NOW}", mac=MAC)
@example(time=f"0{NOW}", mac=MAC)
@example(time="\u0663", mac=MAC)
def test_usual_header_is_judged_like_any_other(time: str, mac: str) -> None:
    """R46, R111: what is read the short way is what the long way reads; `x` means nothing there."""
    header = f"t={time},v1={mac}".encode()
    assert verdict(header) == verdict(header + b",x=1")


def test_text_that_no_header_can_hold_is_malformed() -> None:
    """R46: a caller's own text, which is no bytes of HTTP, ends with a reason like anything else."""
    with pytest.raises(SignatureError) as caught:
        verify(b"{}", [f"t={NOW},v1={MAC}\u2026"], [SECRET], NOW)
    assert caught.value.reason == "signature_malformed"


def test_first_secret_that_fits_is_told() -> None:
    """R48: while two are in use the sender signs with both; the newer one stands first."""
    older = f"{SECRET_PREFIX}older"
    header = header_value(b"{}", [SECRET, older], NOW)
    for secrets, index in (((SECRET, older), 0), ((older, SECRET), 0), (("whsec_x", older), 1)):
        assert verify(b"{}", [header], secrets, NOW).secret_index == index


@pytest.mark.parametrize(("size", "fits"), [(4096, True), (4097, False)])
def test_header_of_four_kibibytes_is_read(size: int, fits: bool) -> None:
    """R46: the limit belongs to what is allowed."""
    start = f"t={NOW},v1={MAC},x="
    found = verdict((start + "a" * (size - len(start))).encode())
    assert (found == Verified(NOW, 0)) is fits
