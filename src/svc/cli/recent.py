"""What was shown lately, kept for the completion of ids: `remember` after a command has ended.

Ids, their kinds and a label of amount and status, never anything that opens something. What cannot
be written is left: nobody depends on it.
"""

import re
from collections.abc import Iterator
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final

from svc.money import format_amount
from svc.redaction import redact
from svc.spec import ID_PREFIXES

if TYPE_CHECKING:
    from svc.cli.session import Session

_KINDS: Final = {
    **{prefix: kind for kind, prefix in ID_PREFIXES.items() if kind != "request"},
    "rq_": "recorded_request",
    "key_": "api_key",
    "flt_": "fault",
    "dlv_": "delivery",
    "eml_": "email",
}
_ID: Final = re.compile(rf"({'|'.join(_KINDS)})[0-9A-Za-z]{{1,64}}")
_WORD: Final = re.compile(r"[a-z][a-z0-9_.]{0,39}")
_DEPTH: Final = 6  # of a page: its list, its events, their data, the object, what that names
_NOT_A_FILE_NAME: Final = re.compile(r"[^A-Za-z0-9.-]")


def remember(session: "Session") -> None:
    """Keeps the ids of what this command has shown; `svc config set cache off` stops it."""
    with suppress(Exception):  # the command is done, and this must not say otherwise
        found = list(entries(session.shown))
        if not found or not session.config.cache or session.settings.address is None:
            return
        from svc.cli.recent_file import RecentFile

        folder = session.paths.cache_dir / "recent"
        RecentFile(folder / file_name(session), str(session.settings.address)).add(found)


def seen_in_other_mode(session: "Session") -> str | None:
    """An id of this command line that was shown lately with a key of the other mode."""
    with suppress(Exception):  # a hint, which must never stand in the way of the error itself
        from svc.cli.recent_file import RecentFile

        other = "live" if session.settings.mode == "test" else "test"
        path = session.paths.cache_dir / "recent" / file_name(session, other)
        known = RecentFile(path, str(session.settings.address)).ids()
        return next((word for word in session.argv if word in known), None)
    return None


def file_name(session: "Session", mode: str | None = None) -> str:
    """The name that the shells find it by: from what the user typed, as they see nothing else."""
    settings = session.settings
    typed = session.given.everywhere.base_url or session.env.get("SVC_BASE_URL") or ""
    where = f"@{_NOT_A_FILE_NAME.sub('_', typed)}" if typed else ""
    return f"{settings.profile}.{mode or settings.mode}{where}.tsv"


def entries(shown: object, depth: int = _DEPTH) -> Iterator[tuple[str, str, str]]:
    """Finds id, kind and label of every object in what was shown, and of those that it names."""
    if isinstance(shown, list):
        for item in shown if depth else ():
            yield from entries(item, depth - 1)
        return
    if not isinstance(shown, dict):
        return
    own = shown.get("id")
    if (kind := _kind(own)) is not None:
        yield str(own), kind, label(shown)
    for name, value in shown.items():
        if name != "id" and (kind := _kind(value)) is not None:
            yield value, kind, ""
        elif depth and isinstance(value, dict | list):
            yield from entries(value, depth - 1)


def label(shown: dict[str, Any]) -> str:
    """A few words to tell an object by: money and status, or the type of an event."""
    amount = next(
        (
            value
            for name in ("amount_total", "amount", "total")
            if type(value := shown.get(name)) is int
        ),
        None,
    )
    currency = shown.get("currency")
    money = ""
    if (
        amount is not None
        and isinstance(currency, str)
        and currency.isascii()
        and currency.isalpha()
    ):
        money = format_amount(amount, currency)
    words = [shown.get(name) for name in ("type", "status")]
    plain = [word for word in words if isinstance(word, str) and _WORD.fullmatch(word)]
    text = " ".join(filter(None, (money, *plain)))
    return text if redact(text) == text else ""


def _kind(value: object) -> str | None:
    match = _ID.fullmatch(value) if isinstance(value, str) else None
    return _KINDS[match[1]] if match else None
