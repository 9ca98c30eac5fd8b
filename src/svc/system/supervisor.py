"""Telling whoever supervises this process, such as systemd, that it is ready."""

import socket
from collections.abc import Mapping
from contextlib import suppress
from typing import Final

_READY: Final = b"READY=1"


def tell_ready(env: Mapping[str, str]) -> None:
    """Says so to the socket that NOTIFY_SOCKET names; where nobody listens, nobody is told.

    A name with `@` in front is one of Linux without a file.
    """
    address = env.get("NOTIFY_SOCKET", "")
    if not address.startswith(("/", "@")) or not hasattr(socket, "AF_UNIX"):
        return
    if address.startswith("@"):
        address = f"\0{address[1:]}"
    with suppress(OSError), socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as notice:
        notice.sendto(_READY, address)
