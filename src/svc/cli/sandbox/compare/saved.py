"""The saved result of `svc sandbox compare`, one per profile, for `svc sandbox start --like`.

`compare --save` calls `save_report`; `svc sandbox start --like` reads the settings back.
"""

import json
from pathlib import Path
from typing import Any

from svc.cli.framework.session import Session
from svc.errors import LocalError, UsageError, build_wrong_choice, name_failure, system_words
from svc.system.files import make_private, replace_file


def _file(session: Session, profile: str) -> Path:
    return session.paths.state_dir / "compared" / f"{profile}.json"


def save_report(session: Session, report: dict[str, Any]) -> None:
    """Saves a report in place of the profile's earlier one.

    Raises:
        LocalError: the file cannot be written.
    """
    path = _file(session, session.settings.profile)
    with name_failure(f"{path} cannot be written"):
        make_private(path.parent)
        replace_file(path, json.dumps(report, indent=2).encode())
    session.out.note(f"Kept in {path}")


def settings_like(session: Session, profile: str | None) -> dict[str, Any]:
    """Returns the settings that make a sandbox behave as a profile's service did.

    Without a profile the result is empty. The settings are printed, with the number of differences
    for which the sandbox has no setting.

    Raises:
        UsageError: no comparison of the profile is saved.
        LocalError: the saved comparison cannot be read.
    """
    from svc.sandbox.store.settings import META, check_stored

    if profile is None:
        return {}
    if profile not in session.config.profiles:
        raise build_wrong_choice("--like", profile, session.config.profiles)
    path = _file(session, profile)
    try:
        report = json.loads(path.read_bytes())
        found: dict[str, Any] = dict(report["settings"])
        check_stored(META, found)
        told = f"{report['origin']} did at {report['compared_at']}"
        others = sum(
            each["result"] == "different" and not each["setting"] for each in report["findings"]
        )
    except FileNotFoundError:
        raise UsageError(
            f"Nothing is known of how the service of {profile} behaves.",
            code="not_compared",
            param="--like",
            hint=f"svc sandbox compare --profile {profile} --save",
        ) from None
    except OSError as error:
        raise LocalError(f"{path} cannot be read: {system_words(error)}.") from error
    except (ValueError, KeyError, TypeError) as error:
        raise LocalError(
            f"{path} is not a saved comparison. Run svc sandbox compare --save again."
        ) from error
    words = " ".join(f"{name}={json.dumps(value).strip(chr(34))}" for name, value in found.items())
    session.out.note(f"It behaves as {told}: {words or 'as every sandbox'}.")
    if others:
        session.out.warn(f"{others} differences have no setting that follows them: see {path}")
    return found
