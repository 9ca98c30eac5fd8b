"""Parses sizes such as `10GiB`, and declares the option `--events-per-minute`.

`create` and `template` size the streams and servers of a log by them.
"""

from typing import Annotated, Final

from svc.cli.framework.options import option
from svc.errors import UsageError

EventRate = Annotated[
    int | None,
    option("N", "Size it for so many events a minute, kept for seven days.", min=1, max=1_000_000),
]
_UNITS: Final = {"MiB": 1 << 20, "GiB": 1 << 30}


def size_of(text: str, param: str) -> int:
    """Parses a size to bytes; `param` names the option in the error. Raises UsageError."""
    number, unit = text[:-3], text[-3:]
    if unit not in _UNITS or not number.isascii() or not number.isdigit() or not int(number):
        raise UsageError(f"{text!r} is not a size.", param=param, hint="Write 512MiB or 10GiB")
    return int(number) * _UNITS[unit]
