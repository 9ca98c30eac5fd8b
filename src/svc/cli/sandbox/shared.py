"""The options that several verbs of `svc sandbox` take: port, seed, fixture, profile.

`process`, `env`, `requests` and `time` declare their parameters with these types.
"""

from typing import Annotated

from svc.cli.framework.options import option
from svc.sandbox.store import INTEGER_MAX

Port = Annotated[int | None, option("PORT", "The sandbox's port, where several are running.")]
Seed = Annotated[
    int | None, option("N", "Equal seeds and calls give equal ids.", min=0, max=INTEGER_MAX)
]
FixtureName = Annotated[str | None, option("NAME", "demo fills it with one of everything.")]
LikeProfile = Annotated[
    str | None,
    option("PROFILE", "Behave as its service does, as far as compare --save has seen."),
]
