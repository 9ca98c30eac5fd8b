"""Terminals. Those of Windows take text in UTF-8, and colours once they are told to."""

import sys
from contextlib import suppress
from typing import Any, Final, TextIO

WINDOWS: Final = "win32"
_ESCAPES: Final = 0x0004  # ENABLE_VIRTUAL_TERMINAL_PROCESSING


def write_alike(stream: TextIO, platform: str = sys.platform) -> None:
    """Has a standard stream write the same bytes on every system, and fail at no character.

    Windows would write pipes and files in an old code page, and line feeds as two bytes (R74).
    """
    reconfigure = getattr(stream, "reconfigure", None)
    if reconfigure is None:
        return
    if platform == WINDOWS:
        reconfigure(encoding="utf-8", newline="\n")
    # With LANG=C a name in Japanese must not end the program.
    reconfigure(errors="backslashreplace")


def takes_color(stream: TextIO, platform: str = sys.platform) -> bool:
    """Says whether a terminal understands escape sequences, and tells it to where it must be."""
    if platform != WINDOWS:
        return True
    with suppress(OSError, ValueError, LookupError):
        return _told(stream.fileno())
    return False


def forget_what_was_typed(stream: TextIO, platform: str = sys.platform) -> None:
    """Empties a terminal's queue: what was typed before a question is no answer to it."""
    if platform == WINDOWS:
        from importlib import import_module

        keyboard: Any = import_module("msvcrt")
        while keyboard.kbhit():
            keyboard.getwch()
        return
    import termios

    with suppress(OSError, ValueError, termios.error):
        termios.tcflush(stream.fileno(), termios.TCIFLUSH)


def _told(handle: int) -> bool:
    import ctypes
    from importlib import import_module

    msvcrt: Any = import_module("msvcrt")
    kernel: Any = vars(ctypes)["windll"].kernel32
    console = ctypes.c_void_p(msvcrt.get_osfhandle(handle))
    mode = ctypes.c_uint32()
    if not kernel.GetConsoleMode(console, ctypes.byref(mode)):
        return False
    return bool(kernel.SetConsoleMode(console, mode.value | _ESCAPES))
