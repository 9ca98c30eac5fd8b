"""The rules of `svc sandbox lint`: mistakes in an integration that a real service would punish.

The control looks at the log of requests and at the log of deliveries, and sends each webhook
receiver its latest event with a wrong signature, to see whether it is refused; findings out.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Final, NamedTuple

from svc.sandbox.api.memory import LoggedRequest, RequestLog
from svc.sandbox.control.call import ControlCall, ControlEndpoint
from svc.sandbox.resources.api_keys import OTHER_SECRETS
from svc.sandbox.store import deliveries
from svc.sandbox.store.documents import Doc

_FAILED: Final = 500
_POLLS_MAX: Final = 4  # retrievals of one object; a fifth is no look but a wait
_SLOW_MS: Final = 2000
_DELIVERIES_MAX: Final = 1000
_EXAMPLES_MAX: Final = 5
_WAITED_FOR: Final = ("/v1/orders/", "/v1/payments/")

Requests = Sequence[LoggedRequest]  # oldest first


class LintRule(NamedTuple):
    """A rule: its name, what is wrong where it is broken, and the requests that break it."""

    name: str
    message: str
    broken_by: Callable[[Requests], Iterable[str]]


def _each(breaks: Callable[[LoggedRequest], bool]) -> Callable[[Requests], Iterable[str]]:
    """A rule that is broken by single requests."""
    return lambda requests: (one.id for one in requests if breaks(one))


def _find_given_up(requests: Requests) -> Iterator[str]:
    """What got no answer, or an answer of 5xx, and was not sent again afterwards."""
    for place, one in enumerate(requests):
        if one.lost or one.status >= _FAILED:
            later = ((it.method, it.path, it.idempotency_key) for it in requests[place + 1 :])
            if (one.method, one.path, one.idempotency_key) not in later:
                yield one.id


def _find_polled(requests: Requests) -> Iterator[str]:
    asked = [one for one in requests if one.method == "GET" and one.path.startswith(_WAITED_FOR)]
    often = Counter(one.path for one in asked)
    latest = {one.path: one.id for one in asked}
    for path, count in often.items():
        if count > _POLLS_MAX:
            yield latest[path]


def _is_unsummed(one: LoggedRequest) -> bool:
    if (one.method, one.path, one.status) != ("POST", "/v1/orders", 200):
        return False
    try:
        worth = sum(item["quantity"] * item["unit_amount"] for item in one.params["items"])
        return bool(worth != one.params.get("amount"))
    except (KeyError, TypeError):  # it has no items, or is none
        return False


RULES: Final = (
    LintRule(
        "post_without_key",
        "A POST had no Idempotency-Key: a retry after a timeout does it twice.",
        _each(lambda one: one.method == "POST" and one.idempotency_key is None),
    ),
    LintRule(
        "key_reused",
        "An idempotency key was used for two different requests.",
        _each(lambda one: one.code == "idempotency_key_reused"),
    ),
    LintRule(
        "not_retried",
        "A request that failed with 5xx, or got no answer, was not sent again.",
        _find_given_up,
    ),
    LintRule(
        "polled",
        "An object was retrieved again and again: fulfil on the webhook order.paid.",
        _find_polled,
    ),
    LintRule(
        "wrong_key_kind",
        "A publishable key, a signing secret or a client secret was sent in place of a secret key.",
        _each(
            lambda one: (
                one.code == "secret_key_required" or (one.key or "").startswith(OTHER_SECRETS)
            )
        ),
    ),
    LintRule(
        "no_version",
        "A request had no Svc-Version: its answer changes with the version of the account.",
        _each(lambda one: one.version is None),
    ),
    LintRule(
        "amount_differs",
        "The amount of an order is not the sum of its items.",
        _each(_is_unsummed),
    ),
)
LEAKED: Final = "A secret key was used in the checkout: it is for the server alone."
SLOW: Final = "A handler took over 2 seconds: queue the work and answer first."
UNVERIFIED: Final = "A receiver took a delivery whose signature is wrong."


def controls(log: RequestLog) -> tuple[ControlEndpoint, ...]:
    """The control that looks at a log of requests, at the deliveries and at the receivers."""

    async def lint(call: ControlCall) -> Doc:
        # Those whose key has no mode as well, oldest first.
        requests = [each for each in reversed(log.search({})) if each.mode in (call.mode, None)]
        made, _ = call.read(
            lambda tx: deliveries.page(
                tx.store, tx.mode, equals={}, limit=_DELIVERIES_MAX, after=None
            )
        )
        fooled = [
            url for url, reply in await call.engine.send_badly_signed(call.mode) if reply.accepted
        ]
        found = [
            _build_finding(rule.name, rule.message, rule.broken_by(requests)) for rule in RULES
        ]
        slow = (each.id for each in made if (each.ms or 0) > _SLOW_MS)
        found += [_build_finding("secret_key_in_checkout", LEAKED, log.leaked)]
        found += [_build_finding("slow_handler", SLOW, slow)]
        found += [_build_finding("unverified_webhook", UNVERIFIED, fooled)]
        return {
            "object": "lint",
            "requests": len(requests),
            "deliveries": len(made),
            "findings": [each for each in found if each["count"]],
        }

    return (ControlEndpoint("POST", "/lint", lint),)


def _build_finding(rule: str, message: str, broken_by: Iterable[str]) -> Doc:
    every = list(broken_by)
    return {
        "object": "lint_finding",
        "rule": rule,
        "message": message,
        "count": len(every),
        "examples": every[-_EXAMPLES_MAX:],
    }
