"""The credentials of a log: what they are read from, and that no secret in them shows itself."""

import pytest

from svc.errors import UsageError
from svc.listen.log.credentials import Credentials, from_environment
from svc.listen.log.messages import Trust
from svc.listen.log.users import User

FIRST, SECOND, THIRD = (f"logkey_{letter * 43}" for letter in "abc")


@pytest.mark.parametrize("text", ["", "anna", ":pw", "anna:", "anna:p\x07w", "anna:pw\nmore"])
def test_what_holds_no_credentials_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="test holds no credentials of a log") as caught:
        Credentials.parse(text, "test")
    assert (caught.value.code, caught.value.param) == ("log_credentials_invalid", None)


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


def test_no_secret_shows_itself() -> None:
    """R40: in a traceback, say."""
    secret = "kQ7zXw2TrLm"
    held = (
        Credentials("anna", secret, (secret,), secret, secret, secret.encode()),
        Trust("events", (secret,), (secret,), (secret,)),
        User("anna", "laptop", hashed=secret),
    )
    assert secret not in repr(held)
