"""The errors of a log in words: what nats-py raises late or vaguely, as errors of svc.

`client` and `connection` translate what nats-py raises; commands print these errors.
"""

from typing import Final

from svc.errors import ApiError, AuthError, ConfigError, NetworkError, NotFound, SvcError
from svc.listen.log.address import LogAddress

NO_MAJORITY: Final = "log_no_majority"
_WORDS: Final = {
    "TimeoutError": "it did not answer in time",
    "NoRespondersError": "no server answers (no leader, or JetStream is off)",
    "ConnectionRefusedError": "connection refused",
    "ConnectionClosedError": "the connection is closed",
    "OutboundBufferLimitError": "the connection is down",
    "NoServersError": "no server answers",
    "gaierror": "its host name is not known",
}


class LogDown(NetworkError):  # noqa: N818  it says what is the matter
    """The log was not reached, or did not answer in time: it may be tried again."""

    type = "log_unavailable"

    def __init__(self, message: str, *, code: str | None = None, hint: str | None = None) -> None:
        super().__init__(message, code=code, hint=hint, retryable=True)


class NoResponder(LogDown):
    """No server of the log answers requests to a subject."""


class LogRefusal(ApiError):  # noqa: N818  the log's own answer
    """The log answered with an error: `status` as HTTP has it, `number` the log's own."""

    def __init__(self, status: int, number: int, message: str) -> None:
        super().__init__(message, status=status)
        self.number = number


class LogMissing(LogRefusal):
    """A stream or consumer that the log was asked about is not there."""


class worded:  # noqa: N801  a context manager reads as a word
    """Turns what nats-py raises into our errors."""

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: object, error: BaseException | None, _: object) -> None:
        from nats.errors import Error, NoRespondersError

        if isinstance(error, NoRespondersError):
            raise NoResponder(f"The log: {in_words(error)}.") from error
        if isinstance(error, Error | TimeoutError | OSError):
            raise LogDown(f"The log: {in_words(error)}.") from error


def in_words(error: BaseException) -> str:
    """Describes an error of nats-py or of the system in a few words."""
    name = type(error).__name__
    if name == "SSLCertVerificationError":
        return f"its certificate is not trusted ({error})"
    text = _WORDS.get(name, str(error) or name)
    return text.removeprefix("nats: ").rstrip(".")


def check_installed() -> None:
    """Checks that the client library is installed, without loading it; raises ConfigError."""
    from importlib.util import find_spec

    if find_spec("nats") is None:
        raise ConfigError(
            "A team's log needs the client of NATS: pip install 'svc-cli[nats]'",
            code="log_extra_missing",
        )


def build_unreachable(address: LogAddress, trouble: BaseException | None) -> SvcError:
    """Builds the error of a log that cannot be reached, by the last known reason."""
    if isinstance(trouble, SvcError):
        return trouble
    text = in_words(trouble) if trouble is not None else "it does not answer"
    return LogDown(
        f"The log {address} cannot be reached: {text}.",
        code="log_unavailable",
        hint="Look whether a majority of its servers runs, and at address and certificate",
    )


def build_right_missing(user: str | None, verb: str, subject: str) -> AuthError:
    """The error of a user that may not publish or subscribe to a subject."""
    right = "publish to" if verb == "publish" else "subscribe to"
    return AuthError(
        f"The log does not let its user {user or 'without credentials'} {right} {subject}.",
        code="log_right_missing",
        hint="The log's operator gives that right: svc events log template shows them all",
    )


def credentials_refused(address: LogAddress, user: str | None, said: str) -> AuthError:
    """The error of a user that the log does not let in; `said` is what the server says of it."""
    who = f"its user {user}" if user is not None else "a user without a name"
    what = "have expired" if "expired" in said.lower() else "are not taken"
    return AuthError(
        f"The log {address} refuses {who}: the credentials {what}.",
        code="log_credentials_refused",
        hint=f"svc events log login {address}, or in CI: SVC_LOG_CREDENTIALS",
    )


def no_majority(address: LogAddress) -> LogDown:
    """The error of a log of which too few servers run to take or give anything."""
    return LogDown(
        f"Fewer than a majority of the servers of {address} run: nothing is taken.",
        code=NO_MAJORITY,
        hint="Start a second server; what was acknowledged is on a majority of them",
    )


def no_stream(address: LogAddress, stream: str) -> NotFound:
    """The error of a log that has no such stream."""
    return NotFound(
        f"The log {address} has no stream {stream}.",
        code="log_stream_missing",
        hint=f"Its operator makes it once: svc events log create --to {address}",
    )
