"""Texts that lie in files beside their tests, to be read whole where something is changed."""

import os
from pathlib import Path


def hold_golden(path: Path, said: str) -> None:
    """Holds a text against its file; with `GOLDEN=write`, after a change that is meant, writes it."""
    if os.environ.get("GOLDEN") == "write":
        path.parent.mkdir(exist_ok=True)
        path.write_text(said, encoding="utf-8")
    assert said == path.read_text(encoding="utf-8")
