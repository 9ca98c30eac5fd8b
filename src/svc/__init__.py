"""Operate a merchant's account on a cross-border order service.

Begin at `__main__` and `cli`, which walks through one command; `README.md` beside it has the
map of the rooms.
"""

RELEASE = "0.1.0"


def _read_build() -> str:
    """What the build noted, as `0.1.0+321.g1a2b3c4`; sources that were not built have no more."""
    try:
        with open(f"{__path__[0]}/version.txt", encoding="ascii") as note:  # noqa: PTH123  at every start
            return note.read()
    except OSError:
        return f"{RELEASE}+source"


__version__ = _read_build()
