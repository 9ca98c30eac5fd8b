"""Converts a POST to the values from which it can be sent again byte for byte, and back.

`transaction` records what `store_call` returns; `send` and `rows` rebuild the request by
`restore_call`, also to send it again. A `Scope` says for whom and where a request is.
"""

import hashlib
from typing import NamedTuple

from svc.base_url import BaseUrl
from svc.client import find
from svc.client.call import Call, Encoding
from svc.client.operations import action_at
from svc.client.request import (
    CONTENT_TYPES,
    Prepared,
    check_path,
    request_headers,
    without_secrets,
)
from svc.delivery.likeness import UnreadableBody, fields_of, is_making, likenesses
from svc.errors import LocalError
from svc.service.facts import VERSION_HEADER


class Scope(NamedTuple):
    """The profile, mode, address and API key of a request.

    Two requests with one idempotency key are the same only within one scope.

    Attributes:
        base_url: origin and path prefix, as `str(BaseUrl)` writes them.
        key_fingerprint: prefix and last four of the API key, to tell another account's key from it.
    """

    profile: str
    mode: str
    base_url: str
    key_fingerprint: str = ""


class Stored(NamedTuple):
    """The values of a POST for sending it again byte for byte; the API key is not among them.

    Attributes:
        path: the path of the API, without the path of the base URL.
        body: the exact bytes, in `encoding`.
    """

    path: str
    encoding: Encoding
    body: bytes
    idempotency_key: str
    api_version: str | None

    def owner_of(self, named: str) -> str:
        """The owner of an object in the answer, which no other request can have (promise R93).

        A created object belongs to the idempotency key, and the payment of a capture to the path of
        its order. An object that the path names has no owner: the result is empty.
        """
        if is_making(self.path):
            return self.idempotency_key
        known = action_at(self.path)
        return self.path if known and named != known[2] else ""


def store_call(call: Call, prepared: Prepared) -> Stored:
    """Converts a prepared POST to its stored values."""
    assert prepared.idempotency_key is not None
    return Stored(
        call.path,
        call.encoding,
        prepared.body,
        prepared.idempotency_key,
        dict(prepared.headers).get(VERSION_HEADER),
    )


def restore_call(kept: Stored, base_url: BaseUrl) -> tuple[Call, Prepared]:
    """Rebuilds the call and the request that `Client.deliver` takes.

    Method, path, body, version and idempotency key are the first run's (promise R1), and the call
    has the checks of its operation again.

    Raises:
        LocalError: the stored values are damaged.
        AuthError: the request contains what looks like a secret (promise R100).
    """
    call = find.post(kept.path, _fields(kept), encoding=kept.encoding)
    target = base_url.prefix + check_path(kept.path)
    headers = request_headers(
        "POST",
        kept.body,
        content_type=CONTENT_TYPES[kept.encoding],
        key=kept.idempotency_key,
        api_version=kept.api_version,
    )
    url = base_url.origin + target
    made = Prepared("POST", url, target, headers, kept.body, kept.idempotency_key)
    return call, without_secrets(made)


def digests_of(scope: Scope, kept: Stored) -> tuple[str, str]:
    """The parameters digest and likeness of a request (R91); of its bytes if not readable."""
    try:
        fields = fields_of(kept.encoding, kept.body)
    except UnreadableBody:
        same = name_unread(hashlib.sha256(kept.body).hexdigest())
        return same, same
    return likenesses(scope.base_url, scope.mode, kept.path, fields)


def name_unread(body_sha256: str) -> str:
    """A substitute for the digest of an old request, stored without a digest and a body."""
    return f"sha256:{body_sha256}"


def _fields(kept: Stored) -> dict[str, object]:
    try:
        return fields_of(kept.encoding, kept.body)
    except UnreadableBody:
        raise LocalError(
            f"The kept body of POST {kept.path} is damaged; it cannot be sent again.",
            code="journal_damaged",
            idempotency_key=kept.idempotency_key,
            hint="Look at the service for what it did.",
        ) from None
