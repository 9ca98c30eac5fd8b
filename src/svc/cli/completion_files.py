"""The completion scripts: read as they are packaged, made anew from the parsers.

`python -m svc.cli.completion_files FOLDER` writes all four; a test compares them with the folder
`completions` of the project.
"""

import sys
from pathlib import Path

from svc.cli.completion import SHELLS
from svc.errors import LocalError

_PACKAGED = Path(__file__).parent.parent / "completion" / "scripts"
_CHECKOUT = Path(__file__).parents[3] / "completions"


def script(name: str) -> str:
    """Reads one script of the installed program, or of the checkout that it runs from.

    Raises:
        LocalError: the installation is not complete.
    """
    for folder in (_PACKAGED, _CHECKOUT):
        try:
            return (folder / name).read_text(encoding="utf-8")
        except FileNotFoundError:
            continue
    raise LocalError(f"This installation of svc lacks {name}.", hint="Install svc again")


def made() -> dict[str, str]:
    """Every script by the name of its file, as the parsers are now."""
    from svc.cli.command_tree import tree
    from svc.completion.scripts import script as make
    from svc.completion.tables import tables

    known = tables(tree())
    return {name: make(shell, known) for shell, name in SHELLS.items()}


def write(folder: Path) -> None:
    """Writes every script into a folder."""
    for name, text in made().items():
        (folder / name).write_text(text, encoding="utf-8", newline="\n")


if __name__ == "__main__":
    write(Path(sys.argv[1]))
