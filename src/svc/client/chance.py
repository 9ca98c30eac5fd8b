"""Randomness straight from the system; importing `random` and `uuid` would cost every command."""

import os


def fraction() -> float:
    """Returns a number from 0 up to, not including, 1."""
    return int.from_bytes(os.urandom(6), "big") / (1 << 48)


def uuid4() -> str:
    """Returns a random UUID of version 4 as text (promise R1)."""
    raw = bytearray(os.urandom(16))
    raw[6] = raw[6] & 0x0F | 0x40
    raw[8] = raw[8] & 0x3F | 0x80
    text = raw.hex()
    return "-".join((text[:8], text[8:12], text[12:16], text[16:20], text[20:]))
