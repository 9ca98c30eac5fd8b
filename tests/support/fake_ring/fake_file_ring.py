"""A fake keyring for the real program: a package that the user allows, with its items in a file.

It is found through PYTHONPATH and named in the setting `keyring_backends`; what it is asked is
written down beside the items.
"""

import json
import os
from pathlib import Path
from typing import Any

from keyring.backend import KeyringBackend
from keyring.compat import properties


class Keyring(KeyringBackend):
    """Keeps items in the file that FAKE_RING names."""

    @properties.classproperty
    def priority(cls) -> float:  # noqa: N805  the library's decorator
        return 1

    def get_password(self, service: str, username: str) -> str | None:
        self._note("read", username)
        return self._items().get(f"{service} {username}")

    def set_password(self, service: str, username: str, password: str) -> None:
        self._note("write", username)
        self._keep({**self._items(), f"{service} {username}": password})

    def delete_password(self, service: str, username: str) -> None:
        self._note("erase", username)
        items = self._items()
        del items[f"{service} {username}"]
        self._keep(items)

    def _items(self) -> dict[str, Any]:
        path = Path(os.environ["FAKE_RING"])
        return dict(json.loads(path.read_text())) if path.exists() else {}

    def _keep(self, items: dict[str, Any]) -> None:
        Path(os.environ["FAKE_RING"]).write_text(json.dumps(items))

    def _note(self, what: str, username: str) -> None:
        with Path(os.environ["FAKE_RING"] + ".calls").open("a") as file:
            file.write(f"{what} {username}\n")
