"""A file, a pipe or standard input that a user names, up to a size."""

import os
from io import BytesIO
from pathlib import Path

import pytest

from svc.errors import UsageError
from svc.inputs import (
    ClosedInput,
    decode,
    is_read_once,
    open_twice,
    read_bytes,
    read_text,
    split_list,
)

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
