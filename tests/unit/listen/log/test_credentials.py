"""The credentials of a log: what they are read from, and that no secret in them shows itself."""

import base64

import pytest

from svc.listen.log import proof
from svc.listen.log.credentials import Credentials, from_environment, keys_of
from svc.listen.log.messages import Trust
from svc.listen.log.users import User

FIRST, SECOND, THIRD = (f"logkey_{letter * 43}" for letter in "abc")


def test_the_two_newest_keys_count() -> None:
    """The one before is still that of messages which were put there before it was changed."""
    read = Credentials.parse(f"anna@example.com:pw\n{FIRST}\n{SECOND}\n{THIRD}\n", "test")
    assert (read.password, read.keys) == ("pw", (FIRST, SECOND))
    assert read.label == "anna-example-com"
    newer = read.with_key(THIRD)
    assert newer.keys == (THIRD, FIRST)
    assert newer.text == f"anna@example.com:pw\n{THIRD}\n{FIRST}\n"
    assert Credentials.parse(newer.text, "test") == newer
    alone = Credentials.parse(FIRST, "test")
    assert (alone.user, alone.options(), alone.with_key(SECOND).keys) == (None, {}, (SECOND, FIRST))
    assert from_environment({}) is None
    assert from_environment({"SVC_LOG_CREDENTIALS": "anna:p:w"}) == Credentials(
        "anna", "anna:p:w", password="p:w"
    )
    held = Credentials.parse(f"{'a' * 40}:pw\n{FIRST}", "test")
    assert (held.label, [one() for one in held.options().values()]) == ("a" * 32, ["a" * 40, "pw"])


def test_the_key_that_a_log_names_comes_first() -> None:
    """New events are proved with it; while no reader needs one, none is named."""
    held = Credentials.parse(f"anna:pw\n{FIRST}\n{SECOND}", "test")
    for named, first in ((SECOND, SECOND), (FIRST, FIRST), (None, FIRST)):
        fingerprint = None if named is None else proof.fingerprint(named)
        assert keys_of(held, "events", fingerprint)[0] == first


@pytest.mark.parametrize(
    ("claims", "user"),
    [
        ('{"name": "anna"}', "anna"),
        ('{"name": 7}', "7"),
        ("{}", "user"),
        ("[]", "user"),
        ("{", "user"),
    ],
)
def test_credentials_file_is_of_the_user_that_its_token_names(claims: str, user: str) -> None:
    """The log itself checks the token; whatever it is, the file is taken."""
    middle = base64.urlsafe_b64encode(claims.encode()).decode().rstrip("=")
    seed = base64.b32encode(b"SU" + b"s" * 32 + b"ck").decode().rstrip("=")
    file = (
        f"-----BEGIN NATS USER JWT-----\na.{middle}.c\n------END NATS USER JWT------\n\n"
        f"-----BEGIN USER NKEY SEED-----\n{seed}\n------END USER NKEY SEED------\n"
    )
    read = Credentials.parse(f"{file}{FIRST}\n", "test")
    assert (read.user, read.seed, read.keys) == (user, b"s" * 32, (FIRST,))
    assert read.options()["user_jwt_cb"]() == f"a.{middle}.c".encode()
    assert Credentials.parse(file.replace(f"a.{middle}.c", "token"), "test").user == "user"


def test_no_secret_shows_itself() -> None:
    """R40: in a traceback, say."""
    secret = "kQ7zXw2TrLm"
    held = (
        Credentials("anna", secret, (secret,), secret, secret, secret.encode()),
        Trust("events", (secret,), (secret,), (secret,)),
        User("anna", "laptop", hashed=secret),
    )
    assert secret not in repr(held)
