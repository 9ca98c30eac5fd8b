"""Profiles and settings: the user's TOML file, and what a command line makes of it.

Begin with `model`, which has every name that the file may hold; `reading` and `editing` are the
file, `settings` is what one command works with. `cli` and `keys` use this room.

Promises, such as "promise R1", stand by their numbers in tests/PROMISES.md.
"""

from svc.config.model import Config, Profile
from svc.config.reading import load
from svc.config.settings import Settings

__all__ = ["Config", "Profile", "Settings", "load"]
