"""Landed-cost quotes (spec: Landed cost)."""

from svc.client.call import Body, Call, Encoding
from svc.client.operations import post, retrieval


def create(body: Body, *, encoding: Encoding = "json") -> Call:
    """Asks for duties, taxes and fees; amounts in minor units of `currency`."""
    return post("landed-cost-quotes.create", body, encoding)


def retrieve(quote: str) -> Call:
    """Retrieves a quote."""
    return retrieval("landed_cost_quote", quote)
