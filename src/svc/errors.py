"""Every error that this program raises on purpose, as one tree of classes with their exit codes.

Raised everywhere, caught in one place: `cli.main` prints the error by `render.errors` and ends with
the exit code that stands beside its class here.

SvcError
├── UsageError              2   wrong use, nothing was sent
│   └── ConfigError         2   a setting, profile or address is wrong or missing
├── AuthError               4   no key, a key of the wrong kind or mode
│   └── KeyStoreError       4   the OS keyring refused, is locked or absent
├── ApiError                3   the service refused the request
│   ├── Unauthorized        4   401
│   ├── Forbidden           4   403
│   ├── NotFound            5   404
│   ├── Conflict            6   an idempotency key used with another body, an unresolved duplicate
│   ├── RateLimited         8   429 to the end: not carried out
│   └── ServerError         8   5xx to the end on a request that changes nothing
├── NetworkError            8   the service was not reached: not carried out
├── OutcomeUnknown          7   bytes were sent and no definite answer came
├── ReplyContradiction      1   the answer says something else than the request
├── PartlyDone              9   a batch or an export ended early
├── LocalError             10   a local file, disk or state problem
└── CheckFailed            11   a check did not pass
    └── SignatureError     11   a webhook delivery is not authentic
"""

import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from enum import IntEnum
from typing import Any, Final, Literal, TypeVar

Outcome = Literal["done", "failed", "refused", "not_sent", "unknown"]
_Foreign = TypeVar("_Foreign", bound=Exception)


class ExitCode(IntEnum):
    """The exit code of the process (promise R71)."""

    OK = 0
    BUG = 1
    USAGE = 2
    REFUSED = 3
    AUTH = 4
    NOT_FOUND = 5
    CONFLICT = 6
    UNKNOWN = 7
    UNAVAILABLE = 8
    PARTIAL = 9
    LOCAL = 10
    CHECK = 11
    HANGUP = 129
    INTERRUPTED = 130
    BROKEN_PIPE = 141
    TERMINATED = 143


class StopRequest(BaseException):
    """The program is to end now; raised where it waits, never out of a signal's handler.

    Attributes:
        sending: the recorded request that may have been sent, to be named to the user.
        unsent: the path of a request of which no byte had begun to leave in this process.
        ended: how the request had ended, where that was an error.
    """

    sending: Any = None
    unsent: str | None = None
    ended: "SvcError | None" = None


class SvcError(Exception):
    """The root: a message for people and the fields of the error envelope (promise R73).

    `retry_after` is in seconds. `outcome` says whether the request was carried out. `hint` is the
    next step, for people. `request` is the journal's id of the request, not the service's.

    Attributes:
        proved: whether the service itself has proved the outcome (promise R113: a request keeps its
            idempotency key until it has).
        replayed: whether the service said that its refusal is a stored one.
        server_time: the service's clock as it answered, in Unix seconds; None without an answer.
    """

    exit_code = ExitCode.BUG
    type = "bug"
    proved = False
    replayed = False
    server_time: float | None = None
    outcome: Outcome | None = None

    def __init__(
        self,
        message: str,
        *,
        code: str | None = None,
        type: str | None = None,  # noqa: A002  the service's word for it
        param: str | None = None,
        status: int | None = None,
        request_id: str | None = None,
        retryable: bool = False,
        retry_after: float | None = None,
        outcome: Outcome | None = None,
        request: str | None = None,
        idempotency_key: str | None = None,
        hint: str | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.code = code
        if type is not None:
            self.type = type
        self.param = param
        self.status = status
        self.request_id = request_id
        self.retryable = retryable
        self.retry_after = retry_after
        if outcome is not None:
            self.outcome = outcome
        self.request = request
        self.idempotency_key = idempotency_key
        self.hint = hint


class UsageError(SvcError):
    """The command line or its input is wrong; nothing was sent."""

    exit_code = ExitCode.USAGE
    type = "usage_error"
    outcome = "not_sent"


class ConfigError(UsageError):
    """A setting, profile or address is wrong or missing; nothing was sent."""

    type = "config_error"


class AuthError(SvcError):
    """There is no key for this call, or a key of the wrong kind or mode; nothing was sent."""

    exit_code = ExitCode.AUTH
    type = "authentication_error"


class KeyStoreError(AuthError):
    """The OS keyring refused, is locked, absent or hangs."""

    type = "key_store_error"


class ApiError(SvcError):
    """The service refused the request; `message` keeps its words."""

    exit_code = ExitCode.REFUSED
    type = "api_error"


class Unauthorized(ApiError):  # noqa: N818  the service's word
    """401: the key is missing, unknown or expired."""

    exit_code = ExitCode.AUTH
    type = "authentication_error"


class Forbidden(ApiError):  # noqa: N818
    """403: the key's permissions do not cover the request."""

    exit_code = ExitCode.AUTH
    type = "permission_error"


class NotFound(ApiError):  # noqa: N818
    """404: no such object in this mode, or no such path."""

    exit_code = ExitCode.NOT_FOUND
    type = "invalid_request_error"


class Conflict(ApiError):  # noqa: N818
    """The idempotency key was used with another request, or a duplicate is unresolved."""

    exit_code = ExitCode.CONFLICT
    type = "idempotency_error"


class RateLimited(ApiError):  # noqa: N818
    """429 on every attempt: the request was not carried out (promise R11)."""

    exit_code = ExitCode.UNAVAILABLE
    type = "rate_limit_error"


class ServerError(ApiError):
    """5xx on every attempt of a request that changes nothing (promise R11)."""

    exit_code = ExitCode.UNAVAILABLE
    type = "api_error"


# What an answer of the service means by its status; where none is named, `ApiError`: exit code 3.
ERROR_OF_STATUS: Final[dict[int, type[ApiError]]] = {
    401: Unauthorized,
    403: Forbidden,
    404: NotFound,
    409: Conflict,
}


class NetworkError(SvcError):
    """The service was not reached; the request was not carried out."""

    exit_code = ExitCode.UNAVAILABLE
    type = "network_error"


class OutcomeUnknown(SvcError):  # noqa: N818  it is no failure: it may have been carried out
    """Bytes were sent and no definite answer came (promise R10)."""

    exit_code = ExitCode.UNKNOWN
    type = "outcome_unknown"


class ReplyContradiction(SvcError):  # noqa: N818
    """The answer's amount, currency or mode is not the request's (promise R15)."""

    exit_code = ExitCode.BUG
    type = "reply_contradiction"


class PartlyDone(SvcError):  # noqa: N818
    """Rows of a batch were not done, or an export is not whole; what was done stays done."""

    exit_code = ExitCode.PARTIAL
    type = "partly_done"


class LocalError(SvcError):
    """A local file, disk or state problem."""

    exit_code = ExitCode.LOCAL
    type = "local_error"


class CheckFailed(SvcError):  # noqa: N818
    """A check did not pass."""

    exit_code = ExitCode.CHECK
    type = "check_failed"


class SignatureError(CheckFailed):
    """A webhook delivery is not authentic; `reason` is the verifier's word (promise R46)."""

    type = "signature_error"

    def __init__(self, reason: str, message: str, *, hint: str | None = None) -> None:
        super().__init__(message, code=reason, hint=hint)
        self.reason = reason


def build_wrong_choice(
    name: str, word: str, words: Iterable[str], near: str | None = None
) -> UsageError:
    """Builds the error of an option whose `word` is none of `words`; `near` is what was meant."""
    return UsageError(f"{name} {explain_wrong_word(word, words, near)}.", param=name)


def explain_wrong_word(word: object, words: Iterable[str], near: str | None = None) -> str:
    """The message of `build_wrong_choice` without name and full stop, which the caller writes."""
    from svc.nearest import explain_meant, find_near_words

    known = [str(each) for each in words]
    hint = explain_meant([near] if near else find_near_words(str(word), known))
    return f"is {str(word)!r}.{hint} {use_one_of(known)}"


def use_one_of(words: Iterable[str]) -> str:
    """Lists every word that is allowed, as the end of a refusal; without the full stop."""
    return f"Use one of: {', '.join(words)}"


@contextmanager
def translate_errors(
    kind: type[_Foreign], translate: Callable[[_Foreign], Exception]
) -> Iterator[None]:
    """Raises, for an error of a kind within the block, the error that `translate` returns."""
    try:
        yield
    except kind as error:
        translated = translate(error)
        if translated is error:
            raise
        raise translated from error


@contextmanager
def name_failure(what: str, kind: "type[SvcError] | None" = None, **more: Any) -> Iterator[None]:
    """Raises for an `OSError` of the block an error, `what` with the system's words for the cause.

    `what` is as "FILE cannot be read", `more` what else the error is to have.
    """
    try:
        yield
    except OSError as error:
        raise (kind or LocalError)(f"{what}: {system_words(error)}.", **more) from error


def system_error(number: int) -> OSError:
    """The `OSError` of an error number of the system."""
    return OSError(number, os.strerror(number))


def system_words(error: OSError) -> str:
    """The system's text of an error, for use within a sentence: no number, no capital letter."""
    return (error.strerror or str(error)).lower()
