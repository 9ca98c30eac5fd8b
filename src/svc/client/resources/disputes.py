"""Disputes (spec: Disputes); all but the update are assumed (assumptions: Dispute)."""

from svc.client.call import Body, Call, Encoding, QueryParams
from svc.client.operations import listing, post, retrieval


def update(dispute: str, body: Body, *, encoding: Encoding = "form") -> Call:
    """Attaches `evidence`, a draft until `submit` is true."""
    return post("disputes.update", body, encoding, dispute)


def retrieve(dispute: str) -> Call:
    """Retrieves a dispute."""
    return retrieval("dispute", dispute)


def list(params: QueryParams = ()) -> Call:  # noqa: A001  the service's word
    """Lists disputes, newest first: paging and its filters (assumptions: Lists)."""
    return listing("dispute", params)


def accept(dispute: str, body: Body | None = None, *, encoding: Encoding = "form") -> Call:
    """Gives a dispute up; this cannot be undone."""
    return post("disputes.accept", body, encoding, dispute)
