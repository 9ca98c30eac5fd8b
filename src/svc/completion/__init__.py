"""The command tree as data, and the shell scripts that complete it without starting Python.

Begin with `tree.py`, the types of commands, options and values. This module reads the scripts,
which `.build/completions.py` writes. Only `svc.cli` imports this room; it fills the tree from its
parsers.

Promises, such as "promise R1", stand by their numbers in tests/PROMISES.md.
"""

from pathlib import Path
from typing import Final, Literal

from svc.errors import LocalError

Shell = Literal["bash", "zsh", "fish", "powershell"]
SHELLS: Final[dict[Shell, str]] = {
    "bash": "svc.bash",
    "zsh": "_svc",
    "fish": "svc.fish",
    "powershell": "svc.ps1",
}

_PACKAGED: Final = Path(__file__).parent / "scripts"
_CHECKOUT: Final = Path(__file__).parents[3] / "completions"


def read_script(shell: Shell) -> str:
    """Reads the script of the installed program, or of the checkout that it runs from.

    Raises:
        LocalError: the installation is incomplete.
    """
    for folder in (_PACKAGED, _CHECKOUT):
        try:
            return (folder / SHELLS[shell]).read_text(encoding="utf-8")
        except FileNotFoundError:
            continue
    raise LocalError(f"This installation of svc lacks {SHELLS[shell]}.", hint="Install svc again")
