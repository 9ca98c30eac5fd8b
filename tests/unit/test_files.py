"""Where files lie, who may enter, and what a user names to be read."""

import os
import sys
from io import BytesIO
from pathlib import Path
from unittest.mock import patch

import platformdirs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from svc.errors import ExitCode, UsageError
from svc.inputs import (
    ClosedInput,
    decode,
    is_read_once,
    open_twice,
    read_bytes,
    read_text,
    split_list,
)
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


MIB = 1024 * 1024


def test_a_file_and_standard_input_are_read_up_to_the_size(tmp_path: Path) -> None:
    """One byte more is refused, by the name that the user gave."""
    file = tmp_path / "body"
    file.write_bytes(b"\xc3\xa9\r\n")
    for name, called in ((str(file), str(file)), ("-", "Standard input")):
        stdin = BytesIO(file.read_bytes())
        assert read_text(name, stdin, 4) == "é\r\n"
        stdin.seek(0)
        with open_twice(name, stdin, 4, "FILE") as opened:
            assert (opened.read(), opened.seek(0), opened.read()) == (
                b"\xc3\xa9\r\n",
                0,
                b"\xc3\xa9\r\n",
            )
        stdin.seek(0)
        with pytest.raises(UsageError, match=f"^{called} is over 0 MiB.$") as refused:
            read_bytes(name, stdin, 3, "BODY")
        assert (refused.value.param, refused.value.hint) == ("BODY", "Split it into parts")
        stdin.seek(0)
        with pytest.raises(UsageError) as refused, open_twice(name, stdin, 3, "FILE"):
            pass
        assert (refused.value.message, refused.value.param) == (f"{called} is over 0 MiB.", "FILE")
    with pytest.raises(UsageError, match="is over 2 MiB"):
        read_bytes("-", BytesIO(bytes(2 * MIB + 1)), 2 * MIB)


def test_what_cannot_be_read_is_a_wrong_use(tmp_path: Path) -> None:
    """With the system's words, at the option that named it."""
    gone = str(tmp_path / "gone")
    said = f"{gone} cannot be read: no such file or directory."
    with pytest.raises(UsageError) as refused:
        read_bytes(gone, BytesIO(), 9, "FILE")
    assert (refused.value.message, refused.value.param) == (said, "FILE")
    with pytest.raises(UsageError) as refused, open_twice(gone, BytesIO(), 9, "FILE"):
        pass
    assert (refused.value.message, refused.value.param) == (said, "FILE")
    for name in (gone, "\0"):
        assert not is_read_once(name)
    with pytest.raises(UsageError) as refused:
        read_bytes("-", ClosedInput(), 9, "BODY")
    assert refused.value.param == "BODY"
    assert refused.value.message == "Standard input is closed. Nothing was sent."


def test_what_can_be_read_once_is_known(tmp_path: Path) -> None:
    """A file can be read again, a pipe or a device cannot: what it gives is kept in memory."""
    file, pipe = tmp_path / "file", tmp_path / "pipe"
    file.write_bytes(b"")
    os.mkfifo(pipe)
    once = {
        name: is_read_once(name) for name in ("-", os.devnull, str(pipe), str(file), str(tmp_path))
    }
    assert [*once.values()] == [True, True, True, False, False]
    with open_twice(os.devnull, BytesIO(b"x"), 0, "FILE") as opened:
        assert (opened.read(), opened.seekable()) == (b"", True)


@pytest.mark.parametrize(("before", "line"), [(b"", 1), (b"a\n", 2), (b"\xc3\xa9\n\n", 3)])
def test_what_is_no_utf_8_is_named_by_its_line(before: bytes, line: int) -> None:
    """It is never replaced: what was sent would not be what is in the file."""
    with pytest.raises(UsageError) as refused:
        decode(before + b"b\xe9\n\xff", "rows.csv", "FILE")
    error = refused.value
    assert error.message == f"Line {line} of rows.csv is not UTF-8 text."
    assert (error.code, error.param) == ("file_invalid", "FILE")


@pytest.mark.parametrize(
    ("text", "words"), [(None, ()), ("", ()), (" a, b ,,c ", ("a", "b", "c")), (",", ())]
)
def test_words_between_commas_are_parted(text: str | None, words: tuple[str, ...]) -> None:
    """Blanks and empty words are none."""
    assert split_list(text) == words
