"""Runs the program and raises an error of nobody's at the Nth call of a function of its own.

python crashing.py N COMMAND...
"""

import sys
from types import FrameType
from typing import Any

from svc.__main__ import main as run_program


class UnforeseenError(RuntimeError):
    """What no line of the program expects."""


def crashing_at(number: int) -> Any:
    """A profile function that counts the calls inside the package."""
    left = number

    def profile(frame: FrameType, event: str, arg: object) -> None:
        nonlocal left
        name = frame.f_globals.get("__name__", "")
        if event != "call" or not name.startswith("svc.") or name in {"svc.__main__", "svc.start"}:
            return
        left -= 1
        if left == 0:
            sys.setprofile(None)
            raise UnforeseenError(str(frame.f_locals))

    return profile


def main() -> None:
    """Runs the program; also the entry of a fork of it, which has its modules loaded."""
    number = int(sys.argv[1])
    sys.argv = ["svc", *sys.argv[2:]]
    sys.setprofile(crashing_at(number))
    run_program()


if __name__ == "__main__":
    main()
