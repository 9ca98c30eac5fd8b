"""`svc config get`, `set`, `unset` and `path`: reads and changes settings, through `svc.config`."""

from typing import Any, Final

from svc.base_url import BaseUrl
from svc.cli.framework.app import make_word, works_with_invalid_config
from svc.cli.framework.options import argument
from svc.cli.framework.prompts import confirm_in_person
from svc.cli.framework.session import Session
from svc.config import Config
from svc.config.editing import field_of, limit_of, parse_value, remove_value, set_value
from svc.config.model import LIMITS, PROFILE, SETTINGS
from svc.config.settings import DEFAULTS
from svc.redaction import redact

app = make_word("config")

SETTING_NAME: Final = argument("NAME", "The setting, such as output or profiles.shop.base_url.")


@works_with_invalid_config(app)
def get(
    session: Session,
    name: str | None = argument("[NAME]", "One setting; without it, all of them.", default=None),
) -> None:
    """Show what the configuration says, defaults included.

    A setting without a value and without a fixed default is null, such as output: it is human at a
    terminal, else json.

    $ svc config get output
    $ svc config get profiles.shop.base_url
    """
    if name is None:
        session.repair_out.value(_list_everything(session.config))
        return
    value, out = _value(session.config, name), session.repair_out
    if value is None and out.format == "human":
        out.line("none")
        return
    out.value(value)


@works_with_invalid_config(app, "set")
def set_(
    session: Session, name: str = SETTING_NAME, value: str = argument("VALUE", "The value.")
) -> None:
    """Change a setting; the file's comments stay.

    With cache off the ids that completion offers are not kept, and those that are there are
    removed. Only a person at a terminal changes a limit that exists (svc help limits).

    $ svc config set output json
    $ svc config set profiles.shop.auth basic
    $ svc config set cache off
    $ svc config set limits.refunds '500 EUR/day'
    """
    _confirm_limit(session, name, parse_value(name, value))
    config = set_value(session.paths.config_file, name, value)
    if not config.cache:
        from svc.cli.framework.recent import forget

        forget(session.paths.cache_dir / "recent")
    session.repair_out.value({"object": "config", name: _value(config, name)})


@works_with_invalid_config(app)
def unset(session: Session, name: str = SETTING_NAME) -> None:
    """Take a setting out, so that its default holds again.

    $ svc config unset output
    """
    _confirm_limit(session, name, None)
    config = remove_value(session.paths.config_file, name)
    value, out = _value(config, name), session.repair_out
    if value is None and out.format == "human":
        out.line(f"{name} is not set any more.")
        return
    out.value({"object": "config", name: value})


@works_with_invalid_config(app)
def path(session: Session) -> None:
    """Show where the configuration file is, or would be.

    $ svc config path
    """
    where, asked = str(session.paths.config_file), session.given.everywhere
    if asked.output in ("json", "ndjson") or asked.query:
        session.repair_out.value(where)
    else:
        # A pipe means a program that opens the file, not one that reads JSON.
        session.repair_out.line(where)


def _confirm_limit(session: Session, name: str, value: str | None) -> None:
    """Asks a person before a limit of the file is changed, or replaced under another name."""
    limit, config = limit_of(name), session.config
    if limit not in LIMITS or _value(config, name) == value:
        return
    group = limit.rpartition(".")[2]
    if any(one.rpartition(".")[2] == group for one in config.limit_names()):
        what = f"changed: {name} = {value}" if value else f"removed: {name}"
        confirm_in_person(session, name, f"A limit of {group} is {what}.")


def _list_everything(config: Config) -> dict[str, Any]:
    profiles = {
        name: {
            **{field: _mask_value(getattr(profile, field)) for field in PROFILE},
            "limits": dict(profile.limits),
        }
        for name, profile in config.profiles.items()
    }
    settings = {name: _value(config, name) for name in SETTINGS}
    limits = dict(config.limits)
    return {"object": "config", **settings, "limits": limits, "profiles": profiles}


def _value(config: Config, name: str) -> Any:
    field_of(name)
    if limit := limit_of(name):
        own = config.profile(name.split(".")[1]).limits if name.startswith("profiles.") else None
        return (config.limits if own is None else own).get(limit)
    *above, last = name.split(".")
    if above:
        return _mask_value(getattr(config.profile(above[1]), last))
    value = getattr(config, last)
    return _mask_value(DEFAULTS.get(last) if value is None else value)


def _mask_value(value: Any) -> Any:
    """A value for showing; the address of a proxy may hold a password (promise R39)."""
    if isinstance(value, BaseUrl | str):
        return redact(str(value))
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return list(value) if isinstance(value, tuple) else value
