"""Where files lie, and who may enter."""

from pathlib import Path

from svc.paths import Paths


def test_folders_are_taken_from_own_variables_then_xdg() -> None:
    """SVC_*_DIR wins over XDG_*_HOME; a relative XDG value is ignored, as its rules say."""
    paths = Paths.from_env({"SVC_CONFIG_DIR": "/a", "XDG_STATE_HOME": "/b", "XDG_CACHE_HOME": "c"})
    assert paths.config_file == Path("/a/config.toml")
    assert paths.state_file == Path("/b/svc/state.db")
    assert paths.cache_dir.is_absolute()
