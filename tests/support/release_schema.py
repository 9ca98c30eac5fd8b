"""Writes down what the newest schema makes of the one before: run it when a step is released.

python tests/support/release_schema.py
"""

import sqlite3
import sys
import tempfile
from contextlib import closing
from pathlib import Path

from svc.clock import SystemClock
from svc.state import Database
from svc.state.schema import MIGRATIONS

RELEASED = Path(__file__).parents[1] / "cli" / "requests" / "released"


def write() -> Path:
    """Brings the last file's database up to date and dumps it; gives the new file."""
    last = max(int(path.stem) for path in RELEASED.glob("*.sql"))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "state", "state.db")
        path.parent.mkdir(mode=0o700)
        path.touch(mode=0o600)
        with closing(sqlite3.connect(path)) as connection:
            connection.executescript((RELEASED / f"{last}.sql").read_text(encoding="utf-8"))
        with Database.open(path, clock=SystemClock()):
            pass
        with closing(sqlite3.connect(path)) as connection:
            dump = "\n".join(connection.iterdump())
            mark = connection.execute("PRAGMA application_id").fetchone()[0]
    version = len(MIGRATIONS)
    head = (
        f"-- The state database as schema {version} left it; addresses and times stand for the "
        f"test's.\nPRAGMA application_id = {mark};\nPRAGMA user_version = {version};\n"
    )
    new = RELEASED / f"{version}.sql"
    new.write_text(f"{head}{dump}\n", encoding="utf-8")
    return new


if __name__ == "__main__":
    sys.stdout.write(f"{write()}\n")
