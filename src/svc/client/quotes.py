"""Landed-cost quotes (spec: Landed cost)."""

from svc.client.call import Body, Call, Encoding, same, segment


def create(body: Body, *, encoding: Encoding = "json") -> Call:
    """Asks for duties, taxes and fees; amounts in minor units of `currency`."""
    return Call(
        "POST",
        "/v1/landed-cost/quotes",
        body=body,
        encoding=encoding,
        expects=("landed_cost_quote",),
        checks=same(body, "currency"),
    )


def retrieve(quote: str) -> Call:
    """Retrieves a quote."""
    return Call("GET", f"/v1/landed-cost/quotes/{segment(quote)}", expects=("landed_cost_quote",))
