"""Reads from terminals and standard input; on Windows it also turns UTF-8 and colours on.

`cli.framework` sets the standard streams up by `set_encoding` at the start of a command, and reads
a person's answers to its questions; `svc.inputs` reads piped input by `read_to_end`.
"""

import os
import sys
from contextlib import suppress
from importlib import import_module
from typing import Any, BinaryIO, Final, TextIO

from svc.system import signals

WINDOWS: Final = "win32"
_READ: Final = 64 * 1024
_ESCAPES: Final = 0x0004  # ENABLE_VIRTUAL_TERMINAL_PROCESSING


def set_encoding(stream: TextIO, platform: str = sys.platform) -> None:
    """Sets the encoding of a standard stream, alike on every system and without encoding errors.

    Windows would use an old code page for pipes and files, and two bytes for a line feed (R74). An
    encoding of two bytes a letter, as of PYTHONIOENCODING=utf-16, is replaced: it does not suit
    lines that are written at different times.
    """
    reconfigure = getattr(stream, "reconfigure", None)
    if reconfigure is None:
        return
    if platform == WINDOWS:
        reconfigure(encoding="utf-8", newline="\n")
    elif stream.encoding.lower().replace("_", "-").startswith(("utf-16", "utf-32")):
        reconfigure(encoding="utf-8")
    # With LANG=C a name in Japanese must not end the program.
    reconfigure(errors="backslashreplace")


def takes_color(stream: TextIO, platform: str = sys.platform) -> bool:
    """Whether a terminal understands escape sequences; on Windows they are switched on."""
    if platform != WINDOWS:
        return True
    with suppress(OSError, ValueError, LookupError):
        return _enable_escapes(stream.fileno())
    return False


def forget_what_was_typed(stream: TextIO, platform: str = sys.platform) -> None:
    """Discards the pending input of a terminal: text typed before a question is no answer."""
    if platform == WINDOWS:
        keyboard: Any = import_module("msvcrt")
        while keyboard.kbhit():
            keyboard.getwch()
        return
    termios: Any = import_module("termios")

    with suppress(OSError, ValueError, termios.error):
        termios.tcflush(stream.fileno(), termios.TCIFLUSH)


def read_to_end(stream: BinaryIO, most: int) -> bytes:
    """Reads a stream to its end, at most `most` bytes.

    Raises:
        Stopped: a signal came.
        OSError: the stream cannot be read.
    """
    number = _waitable(stream)
    if number is None:
        return stream.read(most)
    read: Any = getattr(stream, "read1", stream.read)  # what has come, not more
    parts: list[bytes] = []
    left = most
    while left > 0:
        signals.wait_ready(number, None)
        part = read(min(left, _READ))
        if not part:
            break
        parts.append(part)
        left -= len(part)
    return b"".join(parts)


def read_line(stream: TextIO) -> str:
    """Reads a line that a person types; raises Stopped: a signal came."""
    number = _waitable(stream)
    if number is not None:
        signals.wait_ready(number, None)  # a terminal has a line to be read, or none of it
    return stream.readline()


def read_hidden(prompt: str) -> str:
    """Reads a line at the terminal without echo.

    Raises:
        EOFError: the terminal was closed.
        OSError: there is no terminal.
        Stopped: a signal came; the echo is on again.
    """
    if sys.platform == WINDOWS:
        from getpass import getpass

        return getpass(prompt)
    termios: Any = import_module("termios")

    terminal = os.open("/dev/tty", os.O_RDWR | getattr(os, "O_NOCTTY", 0))
    try:
        before = termios.tcgetattr(terminal)
        silent = [*before]
        silent[3] &= ~termios.ECHO
        termios.tcsetattr(terminal, termios.TCSAFLUSH, silent)
        try:
            os.write(terminal, prompt.encode())
            return _line(terminal)
        finally:
            termios.tcsetattr(terminal, termios.TCSAFLUSH, before)
            os.write(terminal, b"\n")
    finally:
        os.close(terminal)


def _line(terminal: int) -> str:
    typed = b""
    while not typed.endswith(b"\n"):
        signals.wait_ready(terminal, None)
        part = os.read(terminal, _READ)
        if not part:
            if not typed:
                raise EOFError
            break
        typed += part
    return typed.removesuffix(b"\n").decode("utf-8", "surrogateescape")


def _waitable(stream: TextIO | BinaryIO) -> int | None:
    """The descriptor of a stream for waiting; None if it has none, and on Windows."""
    if sys.platform == WINDOWS:
        return None
    with suppress(OSError, ValueError, AttributeError):
        return stream.fileno()
    return None


def _enable_escapes(handle: int) -> bool:
    import ctypes

    msvcrt: Any = import_module("msvcrt")
    kernel: Any = vars(ctypes)["windll"].kernel32
    console = ctypes.c_void_p(msvcrt.get_osfhandle(handle))
    mode = ctypes.c_uint32()
    if not kernel.GetConsoleMode(console, ctypes.byref(mode)):
        return False
    return bool(kernel.SetConsoleMode(console, mode.value | _ESCAPES))
