"""What each control takes, with its bounds.

It lies in `fields.txt`; after a change that is meant, `GOLDEN=write` writes it anew.
"""

import json
from pathlib import Path

from support.suite.golden import hold_golden
from svc.sandbox.api.memory import RunMemory
from svc.sandbox.control import app
from svc.sandbox.control.routes import engine, faults, lint, resources
from svc.sandbox.parameters.schema import EMPTY
from svc.sandbox.parameters.tables import schema_of


def test_each_control_takes_what_is_agreed() -> None:
    memory = RunMemory()
    every = (
        *engine.CONTROLS,
        *resources.CONTROLS,
        *faults.controls(memory.faults, memory.webhook_faults),
        *app.controls(memory.log),
        *lint.controls(memory.log),
        *app.CONTROLS,
    )
    told = [
        f"{one.method} {one.path} {json.dumps(schema_of(one.fields, EMPTY, partial=False))}"
        for one in every
    ]
    hold_golden(Path(__file__).with_name("fields.txt"), "\n".join(told) + "\n")
