"""What the fake keyring of a process holds; the keyring itself is in `fake_ring`."""

import json
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class FakeRing:
    """The items of the fake keyring, and what it was asked."""

    path: Path

    @property
    def items(self) -> dict[str, str]:
        return dict(json.loads(self.path.read_text())) if self.path.exists() else {}

    @property
    def calls(self) -> list[str]:
        path = Path(f"{self.path}.calls")
        return path.read_text().splitlines() if path.exists() else []
