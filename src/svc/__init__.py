"""Operate a merchant's account on a cross-border order service.

Begin at `__main__` and `cli`, which walks through one command; `README.md` beside it has the
map of the rooms.
"""

RELEASE = "0.1.0"
_LAST_LINE = 4096


def _read_build() -> str:
    """What the build noted, as `0.1.0+321.g1a2b3c4`; sources that were not built name the commit.

    A sandbox that runs on after `git pull` is told apart from what is there then.
    """
    root = __path__[0]
    try:
        with open(f"{root}/version.txt", encoding="ascii") as note:  # noqa: PTH123  at every start
            return note.read()
    except OSError:
        return f"{RELEASE}+source{_read_commit(f'{root}/../../.git')}"


def _read_commit(git: str) -> str:
    """The commit that git has noted last of a checkout, as `.g1a2b3c4`; empty without git."""
    try:
        with open(f"{git}/logs/HEAD", "rb") as log:  # noqa: PTH123  at every start
            log.seek(0, 2)
            log.seek(max(0, log.tell() - _LAST_LINE))
            _before, now, *_ = log.read().splitlines()[-1].split(b" ", 2)
    except (OSError, IndexError, ValueError):
        return ""
    return f".g{now[:7].decode('ascii', 'replace')}"


__version__ = _read_build()
