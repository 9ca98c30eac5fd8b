"""`svc doctor --report`: what a bug report should hold, without any secret, as JSON.

`doctor` passes it the findings of its checks; names of variables and settings are in it, no values.
"""

import os
import platform
import sys
from collections.abc import Sequence
from importlib.metadata import distributions
from pathlib import Path
from typing import Any, Final

from svc import __version__
from svc.cli.doctor.checks import Finding
from svc.cli.framework.session import Session
from svc.errors import SvcError
from svc.redaction import redact

_LIBRARIES: Final = (
    *("certifi", "cryptography", "h11", "httpx", "jmespath", "keyring", "nats-py", "platformdirs"),
    *("rich", "starlette", "tomlkit", "typer", "uvicorn"),
)
_SHOWN_MAX: Final = 5


def report_of(session: Session, findings: Sequence[Finding]) -> dict[str, Any]:
    """Builds the report: versions, system, findings, and names of variables and settings."""
    found = {each.name.lower(): each.version for each in distributions() if each.name}
    return {
        "object": "report",
        "svc": __version__,
        "python": f"{platform.python_implementation()} {platform.python_version()}",
        "system": platform.platform(),
        "program": redact(str(Path(sys.argv[0]).absolute())),
        "terminal": session.env.get("TERM"),
        "language": session.env.get("LC_ALL") or session.env.get("LANG"),
        "libraries": {name: found[name] for name in _LIBRARIES if name in found},
        "variables": sorted(name for name in session.env if name.startswith("SVC_")),
        "settings": _settings(session),
        "bug_reports": _bug_reports(session),
        "checks": [finding.as_data() for finding in findings],
    }


def _settings(session: Session) -> list[str]:
    try:
        config = session.config
    except SvcError:
        return []
    names = ("output", "color", "max_time", "limits")
    own = [name for name in names if getattr(config, name)]
    profiles = [
        f"profiles.{profile.name}.{name}"
        for profile in config.profiles.values()
        for name, value in profile._asdict().items()
        if name != "name" and value
    ]
    return own + profiles


def _bug_reports(session: Session) -> list[str]:
    """The latest reports that svc has written of bugs of its own: they can be attached."""
    try:
        folder = session.paths.state_dir / "reports"
        found = sorted(folder.glob("report-*.txt"), key=os.path.getmtime)
    except (OSError, SvcError):
        return []
    return [str(path) for path in found[-_SHOWN_MAX:]]
