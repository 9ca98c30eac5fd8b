"""Puts each shell's tables into its engine."""

from collections.abc import Callable, Iterator
from importlib.resources import files
from typing import Final

from svc.completion.bash import lines as for_bash
from svc.completion.fish import lines as for_fish
from svc.completion.powershell import lines as for_powershell
from svc.completion.tables import Tables
from svc.completion.zsh import lines as for_zsh

Lines = Callable[[Tables], Iterator[str]]

_PLACE: Final = "@tables@\n"
_SHELLS: Final[dict[str, tuple[str, Lines]]] = {
    "bash": ("engine.bash", for_bash),
    "zsh": ("engine.zsh", for_zsh),
    "fish": ("engine.fish", for_fish),
    "powershell": ("engine.ps1", for_powershell),
}


def script(shell: str, tables: Tables) -> str:
    """The whole completion script of bash, zsh, fish or powershell."""
    name, lines = _SHELLS[shell]
    engine = files("svc.completion").joinpath(name).read_text(encoding="utf-8")
    before, _, after = engine.partition(_PLACE)
    return before + "".join(f"{line}\n" for line in lines(tables)) + after
