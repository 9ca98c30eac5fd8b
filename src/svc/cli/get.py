"""`svc get ID-OR-PATH`: sends any GET and prints the answer, through `framework.sending`.

An id is turned into a path by its prefix (`svc.client.find`).
"""

from svc.cli.framework.app import ReadingVerb, make_app, verb
from svc.cli.framework.inputs import refuse_bare_path
from svc.cli.framework.options import argument, option
from svc.cli.framework.sending import params_of, send_read
from svc.cli.framework.session import Session
from svc.client import find

app = make_app()


@verb(app, cls=ReadingVerb)
def get(
    session: Session,
    target: str = argument("ID-OR-PATH", "An id such as ord_..., or a path such as /v1/orders."),
    param: list[str] | None = option("KEY=VALUE", "A query parameter, repeatable."),
) -> None:
    """Send any GET. An id is turned into its path by its prefix.

    $ svc get ord_3kPq0aVb7cXd9eYf1gZh2iWj
    $ svc get /v1/orders --param limit=3
    """
    refuse_bare_path(target, "ID-OR-PATH", session.argv)
    path = target if target.startswith("/") else find.retrieve(target).path
    send_read(session, find.get(path, tuple(params_of(session, param).items())))
