"""How a sandbox process is to run, as one value that also fits on a command line."""

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final

MEMORY: Final = ":memory:"


@dataclass(frozen=True, slots=True)
class LaunchOptions:
    """The settings of one sandbox process.

    `db` is a file or `:memory:`. Port 0 lets the system choose. `state_dir` holds the run records
    and logs; empty, there are none. `certificate` and `private_key` are PEM files; with both, the
    sandbox speaks https.
    `authority` is the PEM file that clients trust, where that is not the certificate itself.
    `strict_https` makes plain HTTP answer 401, as the real service does.
    """

    db: str
    port: int
    state_dir: str
    seed: int | None = None
    fixture: str | None = None
    certificate: str | None = None
    private_key: str | None = None
    authority: str | None = None
    strict_https: bool = False

    @property
    def tls(self) -> bool:
        return self.certificate is not None

    @property
    def folder(self) -> Path:
        return Path(self.state_dir)

    def to_json(self) -> str:
        return json.dumps(asdict(self))

    @classmethod
    def from_json(cls, text: str) -> "LaunchOptions":
        return cls(**json.loads(text))
