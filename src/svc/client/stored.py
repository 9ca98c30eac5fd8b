"""A POST as the journal keeps it, and the same request again from what was kept (R2, R3)."""

from typing import NamedTuple

from svc.client import raw
from svc.client.call import Call, Encoding
from svc.client.jsontext import NotJson, parse
from svc.client.prepared import Prepared, checked_path, content_type, request_headers
from svc.errors import LocalError
from svc.origin import BaseUrl
from svc.spec import VERSION_HEADER


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


def stored(call: Call, prepared: Prepared) -> Stored:
    """Says what to keep of a prepared POST."""
    assert prepared.idempotency_key is not None
    return Stored(
        call.path,
        call.encoding,
        prepared.body,
        prepared.idempotency_key,
        prepared.header(VERSION_HEADER),
    )


def restored(kept: Stored, base_url: BaseUrl) -> tuple[Call, Prepared]:
    """Rebuilds the request for `Client.deliver(..., sent_before=True)`.

    Method, path, body, version and idempotency key are the first run's (promise R1), and the call
    has the checks of its operation again.

    Raises:
        LocalError: when what was kept is damaged.
    """
    call = raw.post(kept.path, _fields(kept), encoding=kept.encoding)
    target = base_url.prefix + checked_path(kept.path)
    headers = request_headers(
        "POST",
        kept.body,
        content_type=content_type(kept.encoding),
        key=kept.idempotency_key,
        api_version=kept.api_version,
    )
    url = base_url.origin + target
    return call, Prepared("POST", url, target, headers, kept.body, kept.idempotency_key)


def _fields(kept: Stored) -> dict[str, object]:
    """Reads the parameters back; of a form the plain ones, which are all that answers repeat."""
    try:
        text = kept.body.decode("utf-8")
        fields = _form(text) if kept.encoding == "form" else parse(text or "{}")
    except (UnicodeDecodeError, NotJson):
        fields = None
    if not isinstance(fields, dict):
        raise LocalError(
            f"The kept body of POST {kept.path} is damaged; it cannot be sent again.",
            code="journal_damaged",
            idempotency_key=kept.idempotency_key,
            hint="Look at the service for what it did.",
        )
    return fields


def _form(text: str) -> dict[str, object]:
    from urllib.parse import parse_qsl

    pairs = parse_qsl(text, keep_blank_values=True)
    return {name: value for name, value in pairs if "[" not in name}
