"""`svc profiles list`, `use`, `create` and `remove`: names accounts and switches between them.

A profile is a table of the configuration file with the settings of one account, such as its
address; `svc.config.editing` changes the file.
"""

from pathlib import Path
from typing import Any, Final

from svc.cli.framework.app import make_word, works_with_invalid_config
from svc.cli.framework.options import argument, option
from svc.cli.framework.prompts import confirm, confirm_in_person
from svc.cli.framework.session import Session
from svc.config import Config, Profile
from svc.config.editing import create_profile, remove_profile, use_profile
from svc.errors import ConfigError, UsageError
from svc.redaction import redact
from svc.service.facts import Auth

app = make_word("profiles")

PROFILE_NAME: Final = argument("NAME", "The profile's name: letters, digits, - and _.")


@works_with_invalid_config(app, "list")
def list_(session: Session) -> None:
    """List the profiles.

    $ svc profiles list
    """
    config = session.config
    out = session.repair_out
    shown = [_build_view(config, profile) for profile in config.profiles.values()]
    out.value(shown, name="name", kind="profile")
    if not config.profiles:
        out.hint("svc sandbox start makes one, or: svc profiles create NAME --base-url URL")


@works_with_invalid_config(app)
def use(session: Session, name: str = PROFILE_NAME) -> None:
    """Make a profile the one that is used where none is named.

    $ svc profiles use shop
    """
    config = use_profile(session.paths.config_file, name)
    out = session.repair_out
    out.value(_build_view(config, config.profile(name)), name="name")
    if session.env.get("SVC_PROFILE", name) != name:
        out.warn(f"SVC_PROFILE is {session.env['SVC_PROFILE']!r} and wins over it.")


@works_with_invalid_config(app)
def create(
    session: Session,
    name: str = PROFILE_NAME,
    auth: Auth | None = option(
        "HOW", "How the key is sent: bearer or basic.", show_default="bearer"
    ),
    key_command: str | None = option(
        "COMMAND",
        "A command that prints the key, run each time without a shell; nothing is stored.",
    ),
) -> None:
    """Create a profile.

    Its address is --base-url; --api-version, --proxy and --ca-bundle are kept with it if given.
    It becomes the active one if there is no other.

    $ svc profiles create shop --base-url https://api.example.com
    $ svc profiles create shop --base-url https://api.example.com --key-command 'op read op://Shop/svc/key'
    """
    values = _values(session, name, auth, key_command)
    config = create_profile(session.paths.config_file, name, values)
    out = session.repair_out
    out.value(_build_view(config, config.profile(name)), name="name")
    step = "See that it works: svc whoami" if key_command else "Add its key: svc keys add"
    out.hint(f"{step} --profile {name}")


@works_with_invalid_config(app)
def remove(session: Session, name: str = PROFILE_NAME) -> None:
    """Remove a profile that has no stored keys.

    It asks first if the profile is the active one; a script gives -y.

    $ svc profiles remove shop
    """
    kept = session.key_facts.every(profile=name)
    if kept:
        command = f"svc keys remove --profile {name} --{kept[0].mode}"
        raise ConfigError(
            f"The profile {name} still has keys: {', '.join(fact.fingerprint for fact in kept)}.",
            code="profile_has_keys",
            hint=f"Remove them first: {command} --base-url {kept[0].origin}",
        )
    if name in session.config.profiles and name == session.config.active_profile:
        what = f"{name} is the active profile; without it, none is."
        confirm(session, what, otherwise="Nothing was removed.")
    if name in session.config.profiles and session.config.profiles[name].limits:
        confirm_in_person(session, "NAME", f"The limits of {name} are removed with it.")
    config = remove_profile(session.paths.config_file, name)
    out = session.repair_out
    out.value({"object": "profile", "name": name, "removed": True}, name="name")
    if config.profiles and config.active_profile is None:
        out.hint("No profile is active now: svc profiles use NAME")


def _values(
    session: Session, name: str, auth: str | None, key_command: str | None
) -> dict[str, str | bool]:
    asked = session.given.everywhere
    address = asked.base_url or session.env.get("SVC_BASE_URL")
    if not address:
        raise UsageError(
            "svc profiles create needs --base-url.",
            param="--base-url",
            hint=f"svc profiles create {name} --base-url https://api.example.com",
        )
    bundle = str(Path(asked.ca_bundle).absolute()) if asked.ca_bundle else None
    values = {
        "base_url": address,
        "auth": auth,
        "api_version": asked.api_version,
        "proxy": asked.proxy,
        "ca_bundle": bundle,
        "key_command": key_command,
    }
    return {name: value for name, value in values.items() if value}


def _build_view(config: Config, profile: Profile) -> dict[str, Any]:
    return {
        "object": "profile",
        "name": profile.name,
        "active": profile.name == config.active_profile,
        "base_url": profile.base_url and str(profile.base_url),
        "sandbox": profile.sandbox,
        "auth": profile.auth,
        "api_version": profile.api_version,
        "proxy": redact(profile.proxy) if profile.proxy else None,
        "ca_bundle": profile.ca_bundle,
        "key_command": redact(profile.key_command) if profile.key_command else None,
    }
