"""The options of one sandbox: those of its process and of the application in it.

`svc sandbox start` and the pytest plugin fill them in, `process.launch` passes them to the process
as JSON, and `process.serve` and `app` read them there.
"""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Final

LOOPBACK: Final = "127.0.0.1"
MEMORY: Final = ":memory:"


@dataclass(frozen=True, slots=True)
class LaunchOptions:
    """The options of one sandbox.

    Attributes:
        db: a file or `:memory:`.
        port: 0 lets the system choose.
        state_dir: the folder of the run records and logs; empty, there are none.
        seed, fixture: the content of a new sandbox.
        certificate, private_key: PEM files; with both, the sandbox speaks https.
        authority: the PEM file that clients trust, where that is not the certificate itself.
        strict_https: plain HTTP on `/v1` answers 401, as the real service does.
        bind: the address that it listens on, beside loopback.
        hosts: names in lower case that it answers to, beside those of loopback.
        state: the file of an exported state that a new one begins with.
        settings: changed before the first request, in a sandbox that exists already too.
        ca_bundle: a file of authorities that receivers' certificates are checked by, besides the
            system's.
    """

    db: str = MEMORY
    port: int = 0
    state_dir: str = ""
    seed: int | None = None
    fixture: str | None = None
    certificate: str | None = None
    private_key: str | None = None
    authority: str | None = None
    strict_https: bool = False
    bind: str = LOOPBACK
    hosts: Sequence[str] = ()
    state: str | None = None
    settings: dict[str, Any] = field(default_factory=dict)
    ca_bundle: str | None = None

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
