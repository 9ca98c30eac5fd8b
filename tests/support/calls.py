"""Calls of the API for tests, and what each create cannot do without, with an example."""

from typing import Final

from svc import service
from svc.client.call import Body, Call, Encoding, QueryParams
from svc.client.operations import build_list, post, retrieval
from svc.client.options import RequestOption, options_of


def example_of(row: RequestOption) -> str:
    """A field's example as the value of its option; empty where it has none."""
    one = row.field.example
    first = one[0] if isinstance(one, list) else one
    if isinstance(first, dict):
        return ",".join(f"{name}={value}" for name, value in first.items())
    return "" if first is None else str(first)


NEEDS: Final = {
    "orders create": ("--amount", "--currency", "--country", "--item"),
    "landed-cost-quotes create": ("--currency", "--country", "--item"),
    "refunds create": ("--payment",),
    "payouts create": ("--amount", "--currency", "--country", "--account-holder-name"),
    "webhook-endpoints create": ("--url", "--events"),
}
EXAMPLES: Final = {
    command: {row.name: example_of(row) for row in options_of(command.replace(" ", "."))}
    for command in NEEDS
}


class CallsOf:
    """The calls of a noun as functions, for tests that need any: `refunds.create(body)`."""

    def __init__(self, name: str) -> None:
        noun = service.noun(name)
        assert noun is not None
        self._noun = noun

    def create(self, body: Body, *, encoding: Encoding | None = None) -> Call:
        return self._post("create", body, encoding)

    def update(self, identifier: str, body: Body, *, encoding: Encoding | None = None) -> Call:
        return self._post("update", body, encoding, identifier)

    def cancel(
        self, identifier: str, body: Body | None = None, *, encoding: Encoding | None = None
    ) -> Call:
        return self._post("cancel", body, encoding, identifier)

    def capture(
        self, identifier: str, body: Body | None = None, *, encoding: Encoding | None = None
    ) -> Call:
        return self._post("capture", body, encoding, identifier)

    def accept(
        self, identifier: str, body: Body | None = None, *, encoding: Encoding | None = None
    ) -> Call:
        return self._post("accept", body, encoding, identifier)

    def retrieve(self, identifier: str) -> Call:
        return retrieval(self._noun.name, identifier)

    def list(self, params: QueryParams = ()) -> Call:
        return build_list(self._noun.name, params)

    def _post(
        self, verb: str, body: Body | None, encoding: Encoding | None, identifier: str = ""
    ) -> Call:
        return post(f"{self._noun.word}.{verb}", body, encoding, identifier)


orders, payments, refunds = CallsOf("order"), CallsOf("payment"), CallsOf("refund")
payouts, quotes, disputes = CallsOf("payout"), CallsOf("landed_cost_quote"), CallsOf("dispute")
events, webhook_endpoints = CallsOf("event"), CallsOf("webhook_endpoint")
