"""`svc post PATH`: sends any POST and prints the answer, through `framework.sending`.

The body comes from `-d` and `--body`; in live mode every POST is confirmed.
"""

from functools import partial

from svc.cli.framework.app import WritingVerb, make_app, verb
from svc.cli.framework.inputs import refuse_bare_path
from svc.cli.framework.options import OVER_LIMIT, argument
from svc.cli.framework.sending import send_write
from svc.cli.framework.session import Session
from svc.client import find
from svc.errors import ApiError

app = make_app()


@verb(app, cls=WritingVerb)
def post(
    session: Session,
    path: str = argument("PATH", "A path such as /v1/orders."),
    *,
    over_limit: bool = OVER_LIMIT,
) -> None:
    """Send any POST to a path of the API; fields by -d or --body.

    $ svc post /v1/refunds -d payment=pay_7cXd9eYf1gZh2iWj3kPq0aVb -d amount:=4999
    """
    refuse_bare_path(path, "PATH", session.argv)
    try:
        send_write(session, partial(find.post, path), always=True, over_limit=over_limit)
    except ApiError as error:
        if error.param and (error.hint or "").startswith(("Add --", "Change --")):
            error.hint = f"Fields are given by -d: -d '{error.param}=VALUE'"
        raise
