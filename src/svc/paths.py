"""The folders and files of this program on this system: configuration, state and cache.

`cli` makes one `Paths` for each command from its environment variables, and passes the single paths
to `config`, `state` and `sandbox`. `refuse_link` keeps `config` and `cli` from writing through a
link.
"""

import stat
import sys
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import Final

from svc.errors import LocalError, system_words

_APP: Final = "svc"
CONFIG_FILE: Final = "config.toml"


class NoFolder(LocalError):  # noqa: N818  what is the case; LocalError says the rest
    """There is no home folder to keep something in, and nothing names another place."""


class Paths:
    """The three folders of the program; nothing else is written outside the user's own files.

    Each is looked for when it is used: a container may have no home, and most commands need none.
    SVC_*_DIR comes first, then XDG_*_HOME, then the usual place of the system.

    Raises:
        NoFolder: from each property, where there is no such folder.
    """

    def __init__(self, env: Mapping[str, str]) -> None:
        self._env = env

    @cached_property
    def config_dir(self) -> Path:
        return self._folder("SVC_CONFIG_DIR", "XDG_CONFIG_HOME", ".config", "user_config_dir")

    @cached_property
    def state_dir(self) -> Path:
        return self._folder("SVC_STATE_DIR", "XDG_STATE_HOME", ".local/state", "user_state_dir")

    @cached_property
    def cache_dir(self) -> Path:
        return self._folder("SVC_CACHE_DIR", "XDG_CACHE_HOME", ".cache", "user_cache_dir")

    @property
    def config_file(self) -> Path:
        return self.config_dir / CONFIG_FILE

    @property
    def state_file(self) -> Path:
        return self.state_dir / "state.db"

    @property
    def sandbox_dir(self) -> Path:
        return self.state_dir / "sandbox"

    @property
    def has_state(self) -> bool:
        """Whether there is a state database; False where there is no folder for it."""
        try:
            return self.state_file.exists()
        except NoFolder:
            return False

    def _folder(self, own: str, xdg: str, below_home: str, system: str) -> Path:
        if self._env.get(own):
            return Path(self._env[own])
        base = self._env.get(xdg, "")
        if Path(base).is_absolute():  # the XDG rules: relative values are ignored
            return Path(base, _APP)
        home = self._env.get("HOME", "")
        if sys.platform == "linux" and "ANDROID_ROOT" not in self._env and Path(home).is_absolute():
            return Path(home, below_home, _APP)
        # Every other system has places of its own. Not imported on this one: with what it loads it
        # is a twentieth of a short command's time.
        import platformdirs

        try:
            found = Path(getattr(platformdirs, system)(_APP, appauthor=False))
        except RuntimeError:  # it knows no home
            found = Path()
        if found.is_absolute():  # an unknown home is left as a tilde
            return found
        raise NoFolder(
            f"This user has no home folder, and {own} names no other place.",
            hint=f"Set HOME, or {own}, to the same folder for every run: no other one knows of it",
        )


def refuse_link(path: Path, hint: str, *, folder: bool = False) -> None:
    """Refuses a path that is no plain file (with `folder`: no folder), such as a link (R65).

    Raises:
        LocalError: there is something else at the path; nothing there is allowed.
    """
    try:
        mode = path.lstat().st_mode
    except FileNotFoundError:
        return
    except OSError as error:
        raise LocalError(f"{path} cannot be read: {system_words(error)}.") from error
    if not (stat.S_ISDIR(mode) if folder else stat.S_ISREG(mode)):
        plain = "no plain folder" if folder else "no plain file"
        what = "a symbolic link" if stat.S_ISLNK(mode) else plain
        raise LocalError(f"{path} is {what}; nothing was written through it.", hint=hint)
