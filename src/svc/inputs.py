"""Reads an input that a user names: a file, or `-` for standard input; text is UTF-8 or refused.

`cli` reads bodies, payloads and the file of a batch with it; `batch.reading` decodes by it. It also
has the words of `-o` and `--color`, which `cli`, `config` and `render` share, and parts lists.
"""

import os
import stat
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from io import BytesIO
from pathlib import Path
from typing import BinaryIO, Final, Literal, TypeAlias, get_args

from svc.errors import UsageError, name_failure
from svc.system.consoles import read_to_end

# The words of `-o` and of `--color`, which the configuration keeps too.
Format: TypeAlias = Literal["human", "json", "ndjson", "csv", "id"]
Color: TypeAlias = Literal["auto", "always", "never"]

FORMATS: Final[tuple[Format, ...]] = get_args(Format)
COLORS: Final[tuple[Color, ...]] = get_args(Color)
STDIN: Final = "-"
_MIB: Final = 1024 * 1024


class ClosedInput(BytesIO):
    """Standard input where the program was started without one."""


def split_list(text: str | None) -> tuple[str, ...]:
    """The words of an option that takes several with commas between them, without blanks."""
    return tuple(word.strip() for word in (text or "").split(",") if word.strip())


def is_read_once(name: str) -> bool:
    """Whether a name is that of standard input, a pipe or a device, which can be read only once."""
    try:
        mode = 0 if name == STDIN else Path(name).stat().st_mode
    except (OSError, ValueError):
        return False  # reading it says why
    return not mode or stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode) or stat.S_ISCHR(mode)


@contextmanager
def open_twice(name: str, stdin: BinaryIO, most: int, param: str) -> Iterator[BinaryIO]:
    """Opens a file of at most so many bytes, to be read more than once; raises as `read_bytes`.

    What a pipe gives is kept in memory. An OSError within the block becomes the same UsageError.
    """
    if is_read_once(name):
        yield BytesIO(read_bytes(name, stdin, most, param))
        return
    with _name_unread(name, param), Path(name).open("rb") as file:
        if os.fstat(file.fileno()).st_size > most:
            raise _build_too_large(name, most, param)
        yield file


def read_bytes(name: str, stdin: BinaryIO, most: int, param: str | None = None) -> bytes:
    """Reads a whole file, or standard input for `-`, of at most so many bytes.

    Raises:
        UsageError: it cannot be read, or is larger.
        Stopped: a signal came while it was waited for.
    """
    if name == STDIN and isinstance(stdin, ClosedInput):
        raise UsageError("Standard input is closed. Nothing was sent.", param=param)
    with _name_unread(name, param):
        data = read_to_end(stdin, most + 1) if name == STDIN else _read_file(Path(name), most + 1)
    if len(data) > most:
        raise _build_too_large(name, most, param)
    return data


def _name_unread(name: str, param: str | None) -> AbstractContextManager[None]:
    return name_failure(f"{_name_source(name)} cannot be read", UsageError, param=param)


def _build_too_large(name: str, most: int, param: str | None) -> UsageError:
    message = f"{_name_source(name)} is over {most // _MIB} MiB."
    return UsageError(message, param=param, hint="Split it into parts")


def read_text(name: str, stdin: BinaryIO, most: int) -> str:
    """Reads as `read_bytes` and decodes as UTF-8, whatever the locale is; line ends stay as is.

    Raises:
        UsageError: as `read_bytes`, or the text is not UTF-8.
    """
    return decode(read_bytes(name, stdin, most), _name_source(name))


def decode(data: bytes, called: str, param: str | None = None) -> str:
    """Decodes bytes from the user as UTF-8; `called` is their name in a message.

    Raises:
        UsageError: they are not UTF-8; the message has the line.
    """
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise UsageError(
            f"Line {line} of {called} is not UTF-8 text.",
            code="file_invalid",
            param=param,
            hint="Save it as UTF-8, in a spreadsheet as CSV UTF-8; what is no text cannot be sent",
        ) from None


def _read_file(path: Path, size: int) -> bytes:
    with path.open("rb") as file:
        return file.read(size)


def _name_source(name: str) -> str:
    return "Standard input" if name == STDIN else name
