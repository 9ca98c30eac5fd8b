"""From a host name to a connected socket, within a deadline."""

import socket
from typing import TypeAlias

from svc.client.exchange import Deadline, Trouble, WireBroken
from svc.errors import system_words

Address: TypeAlias = tuple[socket.AddressFamily, tuple[str | int | bytes, ...]]


def connect(host: str, port: int, limit: Deadline) -> socket.socket:
    """Connects to the first address that answers.

    Raises:
        WireBroken: NO_ADDRESS or NO_CONNECTION.
    """
    found = addresses(host, port, limit)
    reasons: dict[str, None] = {}
    for index, address in enumerate(found):
        share = limit.left() / (len(found) - index)
        try:
            return _connected(address, share)
        except TimeoutError:
            reasons["timed out"] = None
        except OSError as error:
            reasons[system_words(error)] = None
    raise WireBroken(Trouble.NO_CONNECTION, ", ".join(reasons))


def addresses(host: str, port: int, limit: Deadline) -> list[Address]:
    """The addresses of a host, best first.

    `localhost` is always this machine, whatever a resolver says (promise R21).

    Raises:
        WireBroken: NO_ADDRESS.
    """
    if host == "localhost":
        return [(socket.AF_INET, ("127.0.0.1", port)), (socket.AF_INET6, ("::1", port))]
    for family in (socket.AF_INET, socket.AF_INET6):
        try:
            socket.inet_pton(family, host)
        except OSError:
            continue
        return [(family, (host, port))]
    return _looked_up(host, port, limit)


def _looked_up(host: str, port: int, limit: Deadline) -> list[Address]:
    """Asks the resolver in a thread, because nothing else can give up waiting for it."""
    from threading import Thread

    answers: list[list[Address]] = []
    errors: list[OSError] = []

    def look() -> None:
        try:
            # Bytes, because text would pass through the slow import of the IDNA tables.
            found = socket.getaddrinfo(host.encode("ascii"), port, type=socket.SOCK_STREAM)
            answers.append([(family, address) for family, _, _, _, address in found])
        except OSError as error:
            errors.append(error)

    thread = Thread(target=look, daemon=True)
    try:
        thread.start()
    except RuntimeError:
        raise WireBroken(Trouble.NO_ADDRESS, "the system starts no more threads") from None
    thread.join(max(0.0, limit.left()))
    if answers:
        return answers[0]
    raise WireBroken(
        Trouble.NO_ADDRESS, system_words(errors[0]) if errors else "the look-up timed out"
    )


def _connected(address: Address, seconds: float) -> socket.socket:
    if seconds <= 0:
        raise TimeoutError
    family, place = address
    sock = socket.socket(family, socket.SOCK_STREAM)
    try:
        sock.settimeout(seconds)
        sock.connect(place)
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    except BaseException:
        sock.close()
        raise
    return sock
