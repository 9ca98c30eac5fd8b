"""Where configuration, state and caches lie on this system."""

from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

_APP = "svc"


class Paths(NamedTuple):
    """The three folders of the program; nothing else is written outside the user's own files."""

    config_dir: Path
    state_dir: Path
    cache_dir: Path

    @classmethod
    def from_env(cls, env: Mapping[str, str]) -> "Paths":
        """Takes SVC_*_DIR, then XDG_*_HOME, then what the system does."""
        return cls(
            _folder(env, "SVC_CONFIG_DIR", "XDG_CONFIG_HOME", "user_config_dir"),
            _folder(env, "SVC_STATE_DIR", "XDG_STATE_HOME", "user_state_dir"),
            _folder(env, "SVC_CACHE_DIR", "XDG_CACHE_HOME", "user_cache_dir"),
        )

    @property
    def config_file(self) -> Path:
        return self.config_dir / "config.toml"

    @property
    def state_file(self) -> Path:
        return self.state_dir / "state.db"

    @property
    def sandbox_dir(self) -> Path:
        return self.state_dir / "sandbox"


def _folder(env: Mapping[str, str], own: str, xdg: str, system: str) -> Path:
    if env.get(own):
        return Path(env[own])
    base = env.get(xdg, "")
    if Path(base).is_absolute():  # the XDG rules: relative values are ignored
        return Path(base, _APP)
    # Imported late: it costs a millisecond or two, and XDG systems seldom need it.
    import platformdirs

    return Path(getattr(platformdirs, system)(_APP, appauthor=False))
