"""The profile that a started sandbox is reached by."""

from contextlib import suppress
from typing import Final

from svc.cli.session import Session
from svc.config.editing import create_profile, unset_value
from svc.errors import ConfigError, LocalError
from svc.paths import NoFolder
from svc.sandbox.records import RunRecord, running

NAME: Final = "sandbox"


def remember(session: Session, record: RunRecord) -> str | None:
    """Points the profile `sandbox` at a sandbox; it becomes the active one if there is no other.

    It stays as it is while it points at another sandbox that still runs.

    Gives the words after `svc` that reach the sandbox, `--profile sandbox` or none; None where the
    profile was not written: a sandbox is useful without one, so that is only told.
    """
    existing = session.config.profiles.get(NAME)
    if existing is not None and not existing.sandbox:
        session.out.warn(f"The profile {NAME} belongs to another service and stays as it is.")
        return None
    other = _other_running(session, record)
    if other is not None:
        session.out.note(
            f"The profile {NAME} still means the sandbox at {other.url}. This one is reached by: "
            f'eval "$(svc sandbox env --port {record.port})", or --base-url {record.url}'
        )
        return None
    try:
        active = _write(session, record, stale_bundle=bool(existing and existing.ca_bundle))
    except (ConfigError, LocalError) as error:
        session.out.warn(f"The profile {NAME} was not written. {error.message}")
        return None
    return "" if active == NAME else f"--profile {NAME}"


def restore(session: Session, record: RunRecord) -> None:
    """Points the profile at a sandbox that runs already, if it is gone or means one that ended."""
    existing = session.config.profiles.get(NAME)
    if existing is not None and (not existing.sandbox or str(existing.base_url) == record.url):
        return
    if _other_running(session, record) is None and remember(session, record) is not None:
        session.out.note(f"The profile {NAME} points at it again.")


def _other_running(session: Session, record: RunRecord) -> RunRecord | None:
    """The other sandbox of ours that the profile points at, while it runs."""
    existing = session.config.profiles.get(NAME)
    if existing is None or not existing.sandbox or str(existing.base_url) == record.url:
        return None
    with suppress(NoFolder):
        found = running(session.paths.sandbox_dir)
        return next((each for each in found if each.url == str(existing.base_url)), None)
    return None


def _write(session: Session, record: RunRecord, *, stale_bundle: bool) -> str | None:
    path = session.paths.config_file
    values: dict[str, str | bool] = {"base_url": record.url, "sandbox": True}
    if record.certificate is not None:
        values["ca_bundle"] = record.certificate
    elif stale_bundle:
        unset_value(path, f"profiles.{NAME}.ca_bundle")
    return create_profile(path, NAME, values, replace=True).active_profile
