"""The profile that a started sandbox is reached by (cli section 7)."""

from typing import Final

from svc.cli.session import Session
from svc.config.editing import create_profile, unset_value
from svc.errors import ConfigError, LocalError
from svc.sandbox.records import RunRecord

NAME: Final = "sandbox"


def remember(session: Session, record: RunRecord) -> str | None:
    """Points the profile `sandbox` at a sandbox; it becomes the active one if there is no other.

    Gives the words after `svc` that reach the sandbox, `--profile sandbox` or none; None where the
    profile could not be written: a sandbox is useful without one, so that is only warned of.
    """
    existing = session.config.profiles.get(NAME)
    if existing is not None and not existing.sandbox:
        session.out.warn(f"The profile {NAME} belongs to another service and stays as it is.")
        return None
    try:
        active = _write(session, record, stale_bundle=bool(existing and existing.ca_bundle))
    except (ConfigError, LocalError) as error:
        session.out.warn(f"The profile {NAME} was not written. {error.message}")
        return None
    return "" if active == NAME else f"--profile {NAME}"


def _write(session: Session, record: RunRecord, *, stale_bundle: bool) -> str | None:
    path = session.paths.config_file
    values: dict[str, str | bool] = {"base_url": record.url, "sandbox": True}
    if record.certificate is not None:
        values["ca_bundle"] = record.certificate
    elif stale_bundle:
        unset_value(path, f"profiles.{NAME}.ca_bundle")
    return create_profile(path, NAME, values, replace=True).active_profile
