"""A service that is no sandbox, and what it was told."""

from support.paying import registered, service

__all__ = ["registered", "service"]
