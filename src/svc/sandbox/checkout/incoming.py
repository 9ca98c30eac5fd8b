"""What a browser sends: forms from our own pages only, small and well formed."""

from typing import Final

from starlette.requests import Request

from svc.sandbox.bodies import FORM_TYPE, decode_form
from svc.sandbox.problems import Problem
from svc.sandbox.reading import Limit, read_body

_LIMIT: Final = Limit(16 * 1024)


async def form_of(request: Request) -> dict[str, str]:
    """The fields of a form that one of our own pages sent.

    Raises:
        Problem: 403 if another site sent it, 413 or 415 or 400 if it is no form of ours.
    """
    check_origin(request)
    media = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if media != FORM_TYPE:
        raise Problem(415, "unsupported_media_type", f"Forms are sent as {FORM_TYPE}.")
    tree = decode_form(await read_body(request.scope, request.receive, _LIMIT))
    return {name: text for name, text in tree.items() if isinstance(text, str)}


def check_origin(request: Request) -> None:
    """Refuses what another site's page has the browser send.

    A browser says so in Sec-Fetch-Site. Our pages send no referrer, which makes it write
    `Origin: null`; an older one that knows no Sec-Fetch-Site has to name our own origin.

    Raises:
        Problem: 403 `origin_not_allowed`.
    """
    own = f"{request.url.scheme}://{request.headers.get('host', '')}".lower()
    origin = request.headers.get("origin", "null").lower()
    site = request.headers.get("sec-fetch-site")
    proven = site == "same-origin" and origin == "null"
    if site not in (None, "same-origin") or not (proven or origin == own):
        raise Problem(403, "origin_not_allowed", "Only the checkout's own pages may send this.")
