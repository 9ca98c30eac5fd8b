"""Options that several verbs of `svc sandbox` take."""

from typing import Annotated

import typer

Port = Annotated[
    int | None,
    typer.Option(
        metavar="PORT", help="The port of the one that is meant, where several are running."
    ),
]
Seed = Annotated[
    int | None,
    typer.Option(metavar="N", min=0, max=2**63 - 1, help="Equal seeds and calls give equal ids."),
]
Fixture = Annotated[
    str | None, typer.Option(metavar="NAME", help="demo fills it with one of everything.")
]
Limit = Annotated[
    int | None,
    typer.Option(metavar="1..100", help="How many objects a page has.", show_default="25"),
]
