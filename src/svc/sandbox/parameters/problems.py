"""`Problem`: every error answer of the sandbox's API as an exception (assumptions: Error codes).

Checks and nouns raise them; `http.exchange.refusal` turns one into the answer. The controls and the
checkout refuse by them, too. The functions build those that are raised in several places.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from svc.service.errors import type_of


class Problem(Exception):  # noqa: N818  it is an answer, not a failure of ours
    """One error answer.

    `param` uses the bracket form (`items[0][unit_amount]`). `extra` holds further body fields, such
    as `current_status`; `headers` further response headers.
    """

    def __init__(
        self,
        status: int,
        code: str,
        message: str,
        *,
        type: str | None = None,  # noqa: A002  the interface's word
        param: str | None = None,
        extra: Mapping[str, Any] | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(message)
        self.status = status
        self.type = type or type_of(status)
        self.code = code
        self.message = message
        self.param = param
        self.extra = dict(extra or {})
        self.headers = dict(headers or {})

    def body(self, request_id: str) -> dict[str, Any]:
        """The flat error object; `param` is left out where the error names none."""
        body: dict[str, Any] = {"type": self.type, "code": self.code, "message": self.message}
        if self.param is not None:
            body["param"] = self.param
        return {**body, **self.extra, "request_id": request_id}


# --- violations common to all endpoints -----------------------------------------


def build_invalid(code: str, param: str, message: str) -> Problem:
    """A parameter that breaks a rule."""
    return Problem(400, code, message, param=param)


def build_missing(param: str) -> Problem:
    return build_invalid("parameter_missing", param, f"Missing required parameter: {param}.")


def build_unknown(param: str, hint: str = "") -> Problem:
    return build_invalid("parameter_unknown", param, f"Unknown parameter: {param}.{hint}")


def build_empty(param: str) -> Problem:
    return build_invalid("parameter_invalid_empty", param, f"{param} must not be empty.")


def not_integer(param: str, low: int, high: int) -> Problem:
    message = f"{param} must be an integer from {low} to {high}."
    return build_invalid("parameter_invalid_integer", param, message)


def build_wrong_type(param: str, wanted: str) -> Problem:
    return build_invalid("parameter_invalid_type", param, f"{param} must be {wanted}.")


def too_long(param: str, limit: str) -> Problem:
    return build_invalid("parameter_too_long", param, f"{param} must have at most {limit}.")


def not_allowed_value(param: str, allowed: Iterable[str]) -> Problem:
    words = ", ".join(allowed)
    return build_invalid("parameter_invalid_value", param, f"{param} must be one of: {words}.")


def http_invalid(message: str) -> Problem:
    """What came is no request."""
    return Problem(400, "http_invalid", message, headers={"Connection": "close"})


def build_late(part: str, seconds: float) -> Problem:
    """The refusal of a request whose head or body does not come."""
    message = f"The {part} of the request did not arrive within {seconds:g} seconds."
    return Problem(408, "request_timeout", message, headers={"Connection": "close"})


def body_invalid(message: str) -> Problem:
    return Problem(400, "body_invalid", message)


def resource_missing(kind: str, identity: str, param: str, status: int = 404) -> Problem:
    words = kind.replace("_", " ").replace("api ", "API ")
    message = f"No such {words}: {identity}."
    return Problem(status, "resource_missing", message, param=param)


def build_endpoint_unknown(path: str) -> Problem:
    return Problem(404, "endpoint_unknown", f"There is no endpoint {path}.")


def build_unexpected_state(kind: str, status: str, message: str) -> Problem:
    """An action that the object's present status does not allow."""
    return Problem(400, f"{kind}_unexpected_state", message, extra={"current_status": status})


def internal() -> Problem:
    """What the caller learns of an exception that was not expected."""
    return Problem(500, "internal_error", "Something went wrong inside the sandbox.")
