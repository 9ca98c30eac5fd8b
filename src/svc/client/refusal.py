"""Reads an error answer, whatever its shape, and builds the error with its class and hint.

`reply` reads the body of each answer that is no 2xx; `ending` and `sandbox` build the error of a
definite refusal from it. The other functions say what a refusal proves: about the idempotency key,
or about an effect.
"""

import re
from typing import Any, Final

from svc import service
from svc.client.call import Call
from svc.client.exchange import Headers, RawReply, header
from svc.client.operations import suggest_command
from svc.client.retry import AttemptResult, Meaning, Refusal
from svc.errors import ERROR_OF_STATUS, ApiError, Conflict, Forbidden, NotFound, Unauthorized
from svc.json_text import NotJson, has_more_values, parse
from svc.redaction import one_line, without_tags
from svc.service.errors import CODES, IDEMPOTENCY, INVALID
from svc.service.facts import API_ROOT, ID_PREFIXES, REPLAYED_HEADER, SANDBOX_ROOT

# The code of an error: what answered is the answer to another request.
NOT_OURS: Final = "reply_not_ours"
_OTHER_MODE: Final = (
    "Objects of the other mode are invisible to this key; --live or --test chooses it."
)
_NO_PATH: Final = "What the API has: svc commands"
_ABSENT: Final = ("parameter_missing", "parameter_invalid_empty")
_CONTROLS: Final = f"{SANDBOX_ROOT}/"
# What only a list of the sandbox shows, and the API has no call to retrieve.
_LISTED: Final = {
    f"{_CONTROLS}webhook_endpoints/": "svc sandbox endpoints list shows the ids",
    f"{_CONTROLS}keys/": "svc sandbox keys list shows the ids",
}
_PLAIN: Final = r"[A-Za-z0-9_]+(?:\[[A-Za-z0-9_]+\])*"


def parameter(call: Call, code: str | None, param: str | None) -> str | None:
    """The hint for a refused parameter, such as `Change --amount N`; None for other refusals."""
    if not call.changes or not (code or "").startswith("parameter_"):
        return None
    if call.path.startswith(_CONTROLS):  # whose fields are options of other names
        return None
    if code == "parameter_unknown":
        known = _list_inside(call.operation, param or "")
        return known or "The documented fields are in the command's --help; a name may be misspelt"
    return f"{'Add' if code in _ABSENT else 'Change'} {option(call.operation, param or '')}"


def _list_inside(operation: str, param: str) -> str | None:
    """Formats the members that an object such as `evidence` may have; None for other parameters."""
    outer, bracket, _ = param.partition("[")
    known = service.operation(operation) if bracket else None
    for field in known[0].list_given(known[1].verb) if known else ():
        names = [each.name for each in field.kind.fields if not each.made]
        if field.name == outer and names:
            return f"Inside {outer} may stand {', '.join(names)}"
    return None


def option(operation: str, param: str) -> str:
    """The command-line option for a parameter, else `-d`, which takes any."""
    from svc.client.options import advice

    known = advice(operation, tuple(re.findall(r"[^\[\]]+", param)))
    if known:
        return known
    if not re.fullmatch(_PLAIN, param):
        return "-d PARAM=VALUE"
    return f"-d '{param}=VALUE'" if "[" in param else f"-d {param}=VALUE"


def not_found(call: Call, code: str | None, param: str | None) -> str | None:
    """Explains a 404: an unknown call, an id of another kind, or an id of the other mode."""
    if call.assumed and code != "resource_missing":
        return "The documentation does not show this call; this service may not have it."
    if code == "endpoint_unknown":
        return suggest_command(call) or _NO_PATH
    if code != "resource_missing":
        return None
    in_path = param in (None, "id")
    return (in_path and _other_kind(call.path)) or (
        _OTHER_MODE if in_path or param in ID_PREFIXES else None
    )


def _other_kind(path: str) -> str | None:
    """Suggests the right command if the id in a path is of another kind, or no id."""
    listed = next((words for start, words in _LISTED.items() if path.startswith(start)), None)
    if listed is not None:
        return listed
    path = path.replace(_CONTROLS, f"{API_ROOT}/")
    noun = service.resource_at(path)
    if noun is None:
        return None
    identifier = path.removeprefix(f"{noun.path}/").partition("/")[0]
    known = identifier.startswith(noun.prefix)
    form = None if known else f"The id of {_one(noun.name)} begins with {noun.prefix}"
    if identifier == noun.prefix:
        form = f"{noun.prefix} alone is not an id: letters and digits follow it."
    return _kind_hint(identifier, but_not=noun.name) or form


def _kind_hint(identifier: str, *, but_not: str) -> str | None:
    for kind, prefix in ID_PREFIXES.items():
        if kind != but_not and identifier.startswith(prefix):
            said = f"{identifier} is {_one(kind)}"
            noun = service.noun(kind)
            is_read = noun is not None and noun.action("retrieve") is not None
            return f"{said}: svc get {identifier}" if is_read else f"{said}."
    return None


def _one(kind: str) -> str:
    words = kind.replace("_", " ").replace("landed cost", "landed-cost")
    return f"{'an' if words[0] in 'aeiou' else 'a'} {words}"


_REQUEST_ID_HEADERS = ("request-id", "svc-request-id", "x-request-id")
_MESSAGE_MAX = 1000
_BODY_READ_MAX = 64 * 1024
_VALUES_MAX = 1000  # of an error; a larger one is not the service's
_CONFLICT: Final = 409
_LATE: Final = frozenset((408, _CONFLICT, 425, 499))
# What a gateway answers by the head of a request, before it passes anything on.
_TURNED_AWAY: Final = frozenset((401, 403, 404, 405, 407, 411, 413, 414, 415, 431))
# Of the key itself, not of its use for another request.
_KEY_FORM: Final = "idempotency_key_invalid"


def is_about_key(type_: str | None, code: str | None) -> bool:
    """Whether a refusal says that the idempotency key belongs to another request (R12)."""
    if code == _KEY_FORM:
        return False
    return type_ == IDEMPOTENCY or (code or "").startswith("idempotency_")


def settles(refusal: Refusal) -> bool:
    """Whether a refusal proves that the request had no effect (promises R94, R113).

    Only an error body of the service proves it, if both its type and its code are documented, and
    the code is not about routing or idempotency.
    """
    known = CODES.get(refusal.code or "")
    return known is not None and known.settles and refusal.type == INVALID


def may_follow_effect(finding: AttemptResult) -> bool:
    """Whether a 4xx without proof may have been sent after the effect (promise R113).

    A gateway answers so when it stops waiting, or when it cannot read the answer of the service.
    A 409 about the idempotency key is about another request (promise R12: the key was used with
    another body).
    """
    said, status = finding.refusal or Refusal(""), finding.status or 0
    if is_about_key(said.type, said.code):
        return status in _LATE and status != _CONFLICT
    # An error of the service has a type and a code (specification: Errors); a problem document's
    # type is an address.
    is_of_service = bool(said.code) and (said.type or "").isidentifier()
    return status in _LATE or not (is_of_service or status in _TURNED_AWAY)


def is_replayed(headers: Headers) -> bool:
    """Whether the service marks an answer as replayed."""
    return (header(headers, REPLAYED_HEADER) or "").strip().lower() == "true"


def request_id(headers: Headers) -> str | None:
    """The service's request id, from any header that it may use."""
    for name in _REQUEST_ID_HEADERS:
        value = header(headers, name)
        if value:
            return one_line(value)
    return None


def read(raw: RawReply) -> Refusal:
    """Parses an error body: flat, wrapped in `api_error`, without a code, or not JSON at all."""
    fields = _fields(raw.body)
    message = _text(fields, "message", _MESSAGE_MAX)
    return Refusal(
        message=message or _read_message(raw, parsed=bool(fields)),
        type=_text(fields, "type"),
        code=_text(fields, "code"),
        param=_text(fields, "param"),
        request_id=request_id(raw.headers) or _text(fields, "request_id"),
    )


def is_error_body(data: object) -> bool:
    """Whether a parsed body is an error of either shape (specification: Errors), not an object."""
    if not isinstance(data, dict) or data.keys() & {"id", "object"}:
        return False
    if isinstance(data.get("error"), (dict, str)):
        return True
    return isinstance(data.get("message"), str) and bool(data.keys() & {"type", "code"})


def api_error(
    call: Call, finding: AttemptResult, *, idempotency_key: str | None = None
) -> ApiError:
    """Builds the error of a definite 4xx with the service's message and the class by its code."""
    refusal = finding.refusal or Refusal("The service refused the request.")
    status = finding.status or 0
    kind = ERROR_OF_STATUS.get(status, ApiError)
    if is_about_key(refusal.type, refusal.code):
        kind = Conflict
    error = kind(
        refusal.message,
        **answer_fields(finding, idempotency_key),
        type=refusal.type,
        outcome="refused",
        hint=_hint(call, kind, refusal),
    )
    error.proved = settles(refusal)
    error.replayed = finding.raw is not None and is_replayed(finding.raw.headers)
    return error


def answer_fields(finding: AttemptResult, idempotency_key: str | None) -> dict[str, Any]:
    """The fields of an error that say what was answered."""
    said = finding.refusal
    return {
        "code": NOT_OURS if finding.meaning is Meaning.FOREIGN else said and said.code,
        "param": said.param if said else None,
        "status": finding.status,
        "request_id": finding.request_id,
        "retry_after": finding.retry_after,
        "idempotency_key": idempotency_key,
    }


def permission(call: Call) -> str | None:
    """The permission that a restricted key needs for a call, such as `payouts:write`."""
    noun = service.resource_at(call.path)
    if noun is None:
        return None
    step = call.path.rpartition("/")[2]
    own = next((one.permission for one in noun.actions if one.step == f"/{step}"), "")
    return f"{own or noun.permission}:{'write' if call.changes else 'read'}"


def _fields(body: bytes) -> dict[str, object]:
    try:
        text = body.decode("utf-8")
        document = {} if has_more_values(text, _VALUES_MAX) else parse(text)
    except (NotJson, UnicodeDecodeError):
        return {}
    if isinstance(document, dict):
        inner = document.get("error")
        if isinstance(inner, str):
            return {"message": inner, **document}
        return inner if isinstance(inner, dict) else document
    return {}


def _text(fields: dict[str, object], name: str, limit: int = 200) -> str | None:
    value = fields.get(name)
    return one_line(value, limit) or None if isinstance(value, str) else None


def _read_message(raw: RawReply, *, parsed: bool) -> str:
    words = ""
    if not parsed:
        text = raw.body[:_BODY_READ_MAX].decode("utf-8", "replace")
        words = one_line(without_tags(text) if text.lstrip().startswith("<") else text)
    said = f": {words}" if words else ", without saying why"
    return f"The service answered {raw.status}{said}"


def _hint(call: Call, kind: type[ApiError], refusal: Refusal) -> str | None:
    code, param = refusal.code, refusal.param
    if kind is Forbidden:
        if code == "secret_key_required":
            return CODES[code].hint
        needed = permission(call)
        return f"Use a key whose permissions {f'include {needed}' if needed else 'cover this call'}"
    if kind is NotFound:
        return not_found(call, code, param)
    known = CODES.get(_OTHER_NAMES.get(code or "", code or ""))
    hint = (known and known.hint) or _HINTS_BY_CLASS.get(kind)
    return hint or parameter(call, code, param)


# What the service may call a code that the specification does not show.
_OTHER_NAMES: Final = {"idempotency_key_mismatch": "idempotency_key_reused"}
_HINTS_BY_CLASS: dict[type[ApiError], str] = {
    Unauthorized: "svc whoami",
    Conflict: "Nothing was repeated. Look at the request that used this key first.",
}
