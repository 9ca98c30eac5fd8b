"""Operate a merchant's account on a cross-border order service."""

__version__ = "0.1.0"
