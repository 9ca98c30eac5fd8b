"""Shared fixtures: a real keyring, as the tests of keys have it."""

from keys.conftest import gnome_keyring, session_bus

__all__ = ["gnome_keyring", "session_bus"]
