"""Where files lie, and who may enter."""

import os
import sys
from pathlib import Path
from unittest.mock import patch

import platformdirs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from svc.errors import ExitCode
from svc.paths import NoFolder, Paths


def test_folders_are_taken_from_own_variables_then_xdg() -> None:
    """SVC_*_DIR wins over XDG_*_HOME; a relative XDG value is ignored, as its rules say."""
    paths = Paths({"SVC_CONFIG_DIR": "/a", "XDG_STATE_HOME": "/b", "XDG_CACHE_HOME": "c"})
    assert paths.config_file == Path("/a/config.toml")
    assert paths.state_file == Path("/b/svc/state.db")
    assert paths.cache_dir.is_absolute()


@pytest.mark.parametrize("system", ["~/.local/state/svc", None], ids=["a tilde", "an error"])
def test_each_folder_is_looked_for_when_it_is_used(
    system: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without a home, what is named works, and what is not says which variable would name it."""

    def found(*_: object, **__: object) -> str:
        if system is None:
            raise RuntimeError("Could not determine home directory.")
        return system

    monkeypatch.setattr(platformdirs, "user_state_dir", found)
    paths = Paths({"SVC_CONFIG_DIR": "/a"})
    assert paths.config_file == Path("/a/config.toml")
    assert not paths.has_state
    with pytest.raises(NoFolder) as caught:
        _ = paths.sandbox_dir
    assert caught.value.exit_code == ExitCode.LOCAL
    assert str(caught.value.hint).startswith("Set HOME, or SVC_STATE_DIR, to the same folder")


_VALUES = st.sampled_from([None, "", "/", "/home/a", "/home/a/", "relative", "~", "/tmp/../x", " "])


@pytest.mark.skipif(sys.platform != "linux", reason="other systems' folders are the library's")
@given(home=st.sampled_from(["/root", "/home/a", "/home/a/", "/srv/../x"]), xdg=_VALUES)
def test_folders_below_a_home_are_those_of_the_library(home: str, xdg: str | None) -> None:
    """What is worked out without it, to be quick, is what platformdirs says for the same user."""
    given_xdg = {} if xdg is None else {"XDG_CONFIG_HOME": xdg}
    env = {"HOME": home, **given_xdg}
    with patch.dict(os.environ, env, clear=True):
        paths = Paths(os.environ)
        assert paths.config_dir == Path(platformdirs.user_config_dir("svc", appauthor=False))
        assert paths.state_dir == Path(platformdirs.user_state_dir("svc", appauthor=False))
        assert paths.cache_dir == Path(platformdirs.user_cache_dir("svc", appauthor=False))
