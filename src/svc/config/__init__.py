"""Profiles and settings: the user's TOML file, and the settings of one command.

Begin with `model`, which has every name that the file may have. `reading` parses the file,
`editing` changes it, `settings` merges it with options and variables. `cli` and `keys`
use this room, and `delivery` its `limits`.

Promises, such as "promise R1", stand by their numbers in tests/PROMISES.md.
"""

from svc.config.model import Config, Profile
from svc.config.reading import load
from svc.config.settings import Settings

__all__ = ["Config", "Profile", "Settings", "load"]
