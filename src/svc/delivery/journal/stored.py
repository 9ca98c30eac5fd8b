"""What must be kept of a POST to send it again byte for byte, and the same request from it."""

import hashlib
from typing import NamedTuple

from svc.base_url import BaseUrl
from svc.client import find
from svc.client.call import Call, Encoding
from svc.client.operations import operation_at
from svc.client.request import (
    Prepared,
    check_path,
    content_type,
    request_headers,
    without_secrets,
)
from svc.delivery.likeness import UnreadableBody, fields_of, is_making, likenesses
from svc.errors import LocalError
from svc.service.facts import VERSION_HEADER


class Scope(NamedTuple):
    """For whom and where a request is sent: two requests are the same only within one scope.

    Attributes:
        base_url: origin and path prefix, as `str(BaseUrl)` writes them.
        key_fingerprint: prefix and last four of the API key, to tell another account's key from it.
    """

    profile: str
    mode: str
    base_url: str
    key_fingerprint: str = ""


class Stored(NamedTuple):
    """What must be kept of a POST to send it again byte for byte; nothing of it is the API key.

    Attributes:
        path: of the API, without the base URL's own path.
        body: exact bytes; the encoding says how to read them.
    """

    path: str
    encoding: Encoding
    body: bytes
    idempotency_key: str
    api_version: str | None

    def owner_of(self, named: str) -> str:
        """To whom alone an object can belong that the answer names (promise R93).

        What is made belongs to its idempotency key, the payment that a capture brings to the path
        of its order; ids in the path carry no field name: it is empty.
        """
        if is_making(self.path):
            return self.idempotency_key
        known = operation_at(self.path)
        return self.path if known and named != known[1] else ""


def store_call(call: Call, prepared: Prepared) -> Stored:
    """Says what to keep of a prepared POST."""
    assert prepared.idempotency_key is not None
    return Stored(
        call.path,
        call.encoding,
        prepared.body,
        prepared.idempotency_key,
        prepared.header(VERSION_HEADER),
    )


def restore_call(kept: Stored, base_url: BaseUrl) -> tuple[Call, Prepared]:
    """Rebuilds the request for `Client.deliver(..., sent_before=True)`.

    Method, path, body, version and idempotency key are the first run's (promise R1), and the call
    has the checks of its operation again.

    Raises:
        LocalError: when what was kept is damaged.
        AuthError: it holds what looks like a secret (promise R100).
    """
    call = find.post(kept.path, _fields(kept), encoding=kept.encoding)
    target = base_url.prefix + check_path(kept.path)
    headers = request_headers(
        "POST",
        kept.body,
        content_type=content_type(kept.encoding),
        key=kept.idempotency_key,
        api_version=kept.api_version,
    )
    url = base_url.origin + target
    made = Prepared("POST", url, target, headers, kept.body, kept.idempotency_key)
    return call, without_secrets(made)


def digests_of(scope: Scope, kept: Stored) -> tuple[str, str]:
    """Parameters digest and likeness of a kept request (R91); of no body of ours, of its bytes."""
    try:
        fields = fields_of(kept.encoding, kept.body)
    except UnreadableBody:
        same = name_unread(hashlib.sha256(kept.body).hexdigest())
        return same, same
    return likenesses(scope.base_url, scope.mode, kept.path, fields)


def name_unread(body_sha256: str) -> str:
    """Stands for the identity of a request that was kept before there was one, without a body."""
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
