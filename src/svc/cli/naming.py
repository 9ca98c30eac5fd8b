"""`-o id` for our own results, which have names or addresses and no ids."""

from typing import TYPE_CHECKING, Any

from svc.cli.session import Session

if TYPE_CHECKING:
    from svc.render.output import Output


def show_named(session: Session, out: "Output", data: Any, name: str) -> None:
    """Prints a dict or a list of dicts; with `-o id`, only what stands under `name` in each."""
    # A query says itself what it wants of the whole result.
    if out.format == "id" and session.given.everywhere.query is None:
        data = [each[name] for each in (data if isinstance(data, list) else [data])]
    out.value(data)
