"""Draws the README's picture: a session of the real program, as a terminal would show it.

python tests/acceptance/session.py     writes .readme/session.svg anew
"""

import os
import re
import subprocess
import sys
import tempfile
from io import StringIO
from pathlib import Path
from typing import Final

from rich._export_format import CONSOLE_SVG_FORMAT
from rich.console import Console
from rich.text import Text

PICTURE: Final = Path(__file__).parents[2] / ".readme" / "session.svg"
COLUMNS: Final = 100
# What is typed, and what is really run: the port may be taken, and ids are shortened for nobody.
STORY: Final = (
    ("svc sandbox start --detach --fixture demo", "--port 0 --db :memory: --seed 20"),
    ("svc orders list", ""),
    ("svc sandbox pay $(svc orders list --status requires_payment --max 1 -o id)", ""),
    ("svc refunds create --payment $(svc payments list --max 1 -o id) --amount 4999", ""),
    ("svc disputes list --status needs_response", ""),
    ("svc sandbox advance 3d", ""),
)


def session() -> str:
    """Runs the story in a home of its own and gives what a terminal would have shown."""
    with tempfile.TemporaryDirectory() as home:
        path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
        own = {f"SVC_{name}_DIR": f"{home}/{name}" for name in ("CONFIG", "STATE", "CACHE")}
        shown = {"SVC_OUTPUT": "human", "COLUMNS": str(COLUMNS), "TZ": "UTC", "HOME": home}
        kept = {name: value for name, value in os.environ.items() if not name.startswith("SVC_")}
        env = {**kept, **own, **shown, "PATH": path}
        env.pop("NO_COLOR", None)
        lines = "".join(
            f"cat <<'END'\n$ {typed}\nEND\n{typed} {more}\necho\n" for typed, more in STORY
        )
        colored = 'svc() { command svc --color always "$@"; }\n'
        done = subprocess.run(
            ["bash", "-c", f"{colored}{lines}command svc -q sandbox stop >/dev/null"],
            env=env,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            check=True,
        )
    return done.stdout.decode()


def drawn(text: str) -> str:
    """The picture of a session; it loads nothing from anywhere."""
    console = Console(
        record=True, width=COLUMNS, file=StringIO(), force_terminal=True, color_system="standard"
    )
    for line in text.rstrip().splitlines():
        styled = Text.from_ansi(line)
        if line.startswith("$ "):
            styled.stylize("bold")
        console.print(styled, soft_wrap=len(styled) <= COLUMNS, highlight=False)
    form = re.sub(r"@font-face \{\{.*?\}\}\s*", "", CONSOLE_SVG_FORMAT, flags=re.DOTALL)
    return console.export_svg(title="svc", code_format=form, unique_id="svc")


if __name__ == "__main__":
    PICTURE.parent.mkdir(exist_ok=True)
    PICTURE.write_text(drawn(session()), encoding="utf-8")
