"""Profiles and settings: the user's TOML file, and what a command line makes of it."""

from svc.config.model import Config, Profile
from svc.config.reading import load
from svc.config.settings import Settings

__all__ = ["Config", "Profile", "Settings", "load"]
