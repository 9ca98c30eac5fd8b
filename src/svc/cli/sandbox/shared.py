"""The options that several verbs of `svc sandbox` take: port, seed, fixture, profile.

`process`, `env`, `requests` and `time` declare their parameters with these options.
"""

from typing import Final

from svc.cli.framework.options import option
from svc.sandbox.store import INTEGER_MAX

PORT: Final[int | None] = option("PORT", "The sandbox's port, where several are running.")
SEED: Final[int | None] = option(
    "N", "Equal seeds and calls give equal ids.", min=0, max=INTEGER_MAX
)
FIXTURE_NAME: Final[str | None] = option("NAME", "demo fills it with one of everything.")
LIKE_PROFILE: Final[str | None] = option(
    "PROFILE", "Behave as its service does, as far as compare --save has seen."
)
