"""Merges a command's settings: option, environment, profile, setting, default, in this order.

`cli.framework.invocation` calls `resolve` once for each command, and for the command lines in
hints; the `Settings` that it returns (address, mode, time limits, output) are what `client`, `keys`
and `render` are set up with. The functions are pure: they read only the values that are passed in.
"""

from collections.abc import Callable, Mapping
from typing import Any, Final, NamedTuple, Protocol, cast

from svc.base_url import BaseUrl
from svc.config.model import Config, Profile, SettingCheck, date, one_of, seconds
from svc.errors import ConfigError, UsageError
from svc.inputs import COLORS, FORMATS, Color, Format
from svc.service.facts import MODES, Auth, Mode

MAX_TIME_SECONDS: Final = 60.0
CONTROL_TIMEOUT_SECONDS: Final = 30 * 86400.0  # no end, for anything that waits on a socket
COLOR: Final[Color] = "auto"
# What holds where the file says nothing.
DEFAULTS: Final[Mapping[str, object]] = {"max_time": MAX_TIME_SECONDS, "color": COLOR}


class Options(Protocol):
    """The global options that settings come from; None if an option was not given."""

    profile: str | None
    live: bool | None
    base_url: str | None
    api_version: str | None
    max_time: float | None
    proxy: str | None
    ca_bundle: str | None

    @property
    def output(self) -> str | None: ...

    @property
    def color(self) -> str | None: ...


class Settings(NamedTuple):
    """The settings of one command.

    Attributes:
        address: the base URL of the service, or None if none is configured.
        mode_given: whether `--live`, `--test` or SVC_MODE gives the mode.
        max_time: the total deadline in seconds.
        control_timeout: the total deadline of calls that wait for other work, such as turning a
            sandbox's clock; 30 days (no limit) unless an option, variable or setting gives one.
        proxy: the proxy of an option or setting; the client reads HTTPS_PROXY (promise R26).
        sandbox: whether the address is that of a sandbox on this machine.
        from_profile: whether the address comes from a profile, not from an option or variable.
        key_command: the command that prints the key; only for the profile's own address.
    """

    profile: str
    address: BaseUrl | None
    mode: Mode
    mode_given: bool
    api_version: str | None
    output: Format | None
    max_time: float
    control_timeout: float
    proxy: str | None
    ca_bundle: str | None
    color: Color
    auth: Auth
    sandbox: bool
    from_profile: bool
    key_command: str | None = None

    @property
    def base_url(self) -> BaseUrl:
        """The base URL; raises ConfigError: none is configured; the hint says how to give one."""
        if self.address is None:
            raise ConfigError(
                f"No base URL is known for the profile {self.profile}.",
                code="base_url_missing",
                param="base_url",
                hint="Start the sandbox (svc sandbox start), or use one that runs "
                '(eval "$(svc sandbox env --port PORT)"), or give --base-url, SVC_BASE_URL, '
                "or: svc profiles create NAME --base-url URL",
            )
        return self.address


def resolve(options: Options, env: Mapping[str, str], config: Config) -> Settings:
    """Merges the sources of settings.

    Raises:
        UsageError: the value of an option or a variable is invalid.
        ConfigError: the profile is unknown, or an address is refused (promise R23).
    """
    given = _GivenSettings(env)
    named = given.text(options.profile, "SVC_PROFILE")
    profile = config.active if named is None else config.profile(named)
    address = _address(options, given, profile)
    mode = _mode(options, given)
    asked = given.check(options.max_time, "SVC_MAX_TIME", "--max-time", seconds, _read_number)
    max_time = asked or config.max_time
    return Settings(
        profile=profile.name,
        address=address,
        mode=mode or "test",
        mode_given=mode is not None,
        api_version=given.check(options.api_version, "SVC_API_VERSION", "--api-version", date)
        or profile.api_version,
        output=cast("Format | None", given.check(options.output, "SVC_OUTPUT", "-o", _FORMAT))
        or config.output,
        max_time=max_time or MAX_TIME_SECONDS,
        control_timeout=max_time or CONTROL_TIMEOUT_SECONDS,
        proxy=given.text(options.proxy, "SVC_PROXY") or profile.proxy,
        ca_bundle=given.text(options.ca_bundle, "SVC_CA_BUNDLE") or profile.ca_bundle,
        color=_color(options, given, config),
        auth=profile.auth,
        sandbox=address is not None and config.is_sandbox(address),
        from_profile=given.text(options.base_url, "SVC_BASE_URL") is None,
        key_command=_key_command(profile, address),
    )


def _key_command(profile: Profile, address: BaseUrl | None) -> str | None:
    """The profile's key command, if the key is sent to the profile's own origin (R22); or None."""
    own = profile.base_url
    there = own is not None and address is not None and own.origin == address.origin
    return profile.key_command if there else None


_FORMAT: Final = one_of(FORMATS)


class _GivenSettings:
    """Reads values of options, else of variables; an empty variable counts as not set."""

    def __init__(self, env: Mapping[str, str]) -> None:
        self._env = env

    def text(self, option: str | None, variable: str) -> str | None:
        return option if option is not None else self._env.get(variable) or None

    def check(
        self,
        option: Any,
        variable: str,
        flag: str,
        check: SettingCheck,
        parse: Callable[[str], Any] = str,
    ) -> Any:
        text = None if option is not None else self.text(None, variable)
        value = option if text is None else parse(text)
        complaint = None if value is None else check(value)
        if complaint:
            source = flag if text is None else variable
            named = complaint if complaint.startswith("is ") else f"is {value!r}: it {complaint}"
            raise UsageError(f"{source} {named}.", param=source)
        return value


def _mode(options: Options, given: _GivenSettings) -> Mode | None:
    if options.live is not None:
        return "live" if options.live else "test"
    return cast("Mode | None", given.check(None, "SVC_MODE", "", one_of(MODES)))


def _read_number(text: str) -> float | str:
    try:
        return float(text)
    except ValueError:
        return text


def _color(options: Options, given: _GivenSettings, config: Config) -> Color:
    asked = given.check(options.color, "", "--color", one_of(COLORS))
    if asked is None and given.text(None, "NO_COLOR"):
        return "never"
    return cast("Color", asked or config.color or COLOR)


def _address(options: Options, given: _GivenSettings, profile: Profile) -> BaseUrl | None:
    text = given.text(options.base_url, "SVC_BASE_URL")
    if text is None:
        return profile.base_url
    try:
        return BaseUrl.parse(text)
    except ConfigError as error:
        if options.base_url is not None:
            raise
        message = f"SVC_BASE_URL: {error.message}"
        raise ConfigError(message, param="SVC_BASE_URL", hint=error.hint) from None
