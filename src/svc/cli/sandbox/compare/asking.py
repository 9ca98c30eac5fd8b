"""Sends the probe requests of the fidelity table to a service and keeps each answer.

The fidelity table lists what the sandbox assumes of the service; a probe is a request that tests a
row. `compare` makes one `Inquiry` and calls `ask_all`; `judging` then searches the answers.
"""

import re
from collections.abc import Callable, Mapping
from typing import Any, Final, NamedTuple

from svc import api_keys
from svc.client.call import Call, QueryPairs, is_id
from svc.client.client import Client
from svc.client.exchange import Failure, RawReply, Trouble, header
from svc.client.request import uuid4
from svc.client.retry import retry_after
from svc.errors import LocalError
from svc.json_text import NotJson, parse_given
from svc.render.query import Query
from svc.sandbox.fidelity import MADE_MAX, ProbeRequest, read_requests
from svc.service.facts import is_success

_SECONDS: Final = 10.0
_PAUSE_MAX: Final = 10.0
_SILENCE_MAX: Final = 4  # requests without a usable answer, one after the other
_NEVER_A_KEY: Final = "sk_test_000000000000000000000000"
_PLACE: Final = re.compile(r"\{([a-z_0-9]+\.[^{}]+)\}")
_DEEP: Final = 4
_REFUSED, _UNAUTHORIZED, _FORBIDDEN, _TOO_MANY, _SERVER = 400, 401, 403, 429, 500


class Exchange(NamedTuple):
    """A probe request with its answer, or with the reason why there is none.

    Attributes:
        sent: method, path and query as they were sent; empty where nothing was.
        key: the idempotency key of a POST.
        answer: status, done, outcome, headers, body, error, and shape, which is the body with
            every digit a 9.
        is_open: whether it was sent and had no usable answer, so that it may have been done.
    """

    asked: ProbeRequest
    sent: str = ""
    key: str | None = None
    answer: Mapping[str, Any] | None = None
    why: str = ""
    is_open: bool = False

    @property
    def target(self) -> str:
        """The request as sent, or as it would have been, with `:id` for an unknown id."""
        return self.sent or _PLACE.sub(":id", self.asked.send)


class AnswerMissing(Exception):  # noqa: N818  it describes an answer
    """An earlier answer lacks the id that a request or a probe needs."""


class Inquiry:
    """Sends the probe requests to one service; at most MADE_MAX of them may create an object."""

    def __init__(self, client: Client, secret: str, is_limited: Callable[[Call], bool]) -> None:
        self._client = client
        self._secret = secret
        self._is_limited = is_limited
        self._silent = 0
        self._making = 0
        self.exchanges: dict[str, Exchange] = {}

    def ask_all(self, tell: Callable[[int, int, str], None], *, endpoint: bool) -> None:
        """Sends the requests in order; `tell` gets number, total and request before each.

        With `endpoint` a webhook endpoint is registered, too.
        """
        requests = read_requests()
        for number, (name, asked) in enumerate(requests.items()):
            tell(number, len(requests), asked.send)
            if asked.endpoint and not endpoint:
                found = Exchange(asked, why="--endpoint registers one, which stays")
            else:
                found = self._exchange(asked)
            self.exchanges[name] = found

    def objects(self) -> list[str]:
        """The ids of the objects that the requests have created, each once."""
        answers = [each.answer for each in self.exchanges.values() if each.asked.creates]
        ids = [each["body"].get("id") for each in answers if each and each["done"]]
        return list(dict.fromkeys(each for each in ids if isinstance(each, str) and is_id(each)))

    def search(self, expression: str, own: Mapping[str, Any]) -> Any:
        """Evaluates a JMESPath expression on an answer and on earlier ones.

        Raises:
            AnswerMissing: an earlier answer has no such id.
            LocalError: the expression does not fit the answers.
        """
        filled = self.fill(expression)
        others = {
            name: each.answer for name, each in self.exchanges.items() if f"{name}." in filled
        }
        return Query(filled, "the probe").search({**others, **own})

    def fill(self, text: str) -> str:
        """Replaces `{request.path}` in a text by earlier answers' ids; raises AnswerMissing."""
        return _PLACE.sub(lambda place: self._id(place[1]), text)

    def _id(self, expression: str) -> str:
        earlier = self.exchanges[expression.partition(".")[0]]
        if earlier.answer is None:
            raise AnswerMissing(earlier.why)
        if not earlier.answer["done"]:
            raise AnswerMissing(f"{earlier.target} was refused")
        try:
            found = self.search(expression, {})
        except LocalError:
            found = None
        if not isinstance(found, str) or not is_id(found):
            raise AnswerMissing(f"{earlier.target} brought no object")
        return found

    def _exchange(self, asked: ProbeRequest) -> Exchange:
        if self._silent >= _SILENCE_MAX:
            why = f"it was not asked: {_SILENCE_MAX} requests before it had no usable answer"
            return Exchange(asked, why=why)
        try:
            call = self._call(asked)
        except AnswerMissing as missing:
            return Exchange(asked, why=str(missing))
        if self._is_limited(call):
            return Exchange(asked, why="a limit holds for what it moves, see: svc help limits")
        key = self.exchanges[asked.key].key if asked.key else None
        key = key or (uuid4() if call.method == "POST" else None)
        found = self._attempt(asked, call, key)
        if found.is_open and found.why != Trouble.TIMEOUT.value:
            found = self._attempt(asked, call, key)
        self._silent = self._silent + 1 if found.is_open else 0
        return found

    def _call(self, asked: ProbeRequest) -> Call:
        needed = self.exchanges[asked.needs] if asked.needs else None
        if needed is not None and not (needed.answer and needed.answer["done"]):
            raise AnswerMissing(needed.why or f"{needed.target} was refused")
        method, _, target = self.fill(asked.send).partition(" ")
        path, _, query = target.partition("?")
        pairs: QueryPairs = tuple(
            (name, value) for name, _, value in (each.partition("=") for each in query.split("&"))
        )
        encoding: Any = "form" if asked.form else "json"
        verb: Any = method
        return Call(verb, path, pairs if query else (), asked.body, encoding)

    def _attempt(self, asked: ProbeRequest, call: Call, key: str | None) -> Exchange:
        if asked.creates:
            if self._making >= MADE_MAX:
                return Exchange(asked, why=f"{MADE_MAX} objects may be made")
            self._making += 1
        came = self._client.ask(
            call, self._headers(asked), idempotency_key=key, raw=asked.raw, seconds=_SECONDS
        )
        answer, why = read(came, asked)
        is_refusal = isinstance(came, RawReply) and came.status in (_UNAUTHORIZED, _FORBIDDEN)
        is_open = answer is None and not is_refusal
        if is_open and isinstance(came, RawReply):
            pause = retry_after(came.headers, self._client.clock.now())
            if pause:
                self._client.clock.sleep(min(pause, _PAUSE_MAX))
        return Exchange(asked, self.fill(asked.send), key, answer, why, is_open=is_open)

    def _headers(self, asked: ProbeRequest) -> dict[str, str]:
        if not asked.auth:
            return dict(asked.headers)
        secret, scheme = {
            "unknown": (_NEVER_A_KEY, "bearer"),
            "password": (f"{self._secret}:x", "basic"),
        }.get(asked.auth, (self._secret, asked.auth))
        sent = "" if asked.auth == "none" else api_keys.authorization(secret, scheme)  # type: ignore[arg-type]
        return {**asked.headers, "Authorization": sent}


def read(came: RawReply | Failure, asked: ProbeRequest) -> tuple[dict[str, Any] | None, str]:
    """Returns an answer as data for the probes, or None and why it cannot be used."""
    if isinstance(came, Failure):
        return None, came.trouble.value
    status = came.status
    if status >= _SERVER or status == _TOO_MANY:
        return None, f"it answered {status}"
    if status in (_UNAUTHORIZED, _FORBIDDEN) and not asked.auth:
        return None, f"it answered {status}: the key may not do this"
    try:
        body = parse_given(came.body.decode("utf-8"))
    except (UnicodeDecodeError, NotJson):
        return None, f"it answered {status} without JSON"
    if not isinstance(body, dict) or not (is_success(status) or status >= _REFUSED):
        return None, f"it answered {status} with no object"
    wrapped = body.get("error")
    error = wrapped if isinstance(wrapped, dict) else body
    names = {name for name, _ in came.headers}
    return {
        "status": status,
        "done": is_success(status),
        "outcome": "taken" if is_success(status) else "refused",
        "headers": {name: header(came.headers, name) for name in names},
        "body": body,
        "error": {} if is_success(status) else error,
        "shape": shape_of(body, _DEEP),
    }, ""


def shape_of(value: Any, deep: int) -> Any:
    """Returns a value with each digit in its texts replaced by 9, `deep` levels down."""
    if isinstance(value, str):
        return re.sub(r"[0-9]", "9", value)
    if deep and isinstance(value, dict):
        return {name: shape_of(each, deep - 1) for name, each in value.items()}
    if deep and isinstance(value, list):
        return [shape_of(each, deep - 1) for each in value]
    return value
