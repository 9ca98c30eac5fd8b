"""The configuration as values: what the file says, checked and frozen."""

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Final, Literal, NamedTuple, TypeAlias

from svc.base_url import BaseUrl
from svc.errors import ConfigError
from svc.spec import Auth

Format: TypeAlias = Literal["human", "json", "ndjson", "csv", "id"]
Color: TypeAlias = Literal["auto", "always", "never"]

FORMATS: Final[tuple[Format, ...]] = ("human", "json", "ndjson", "csv", "id")
COLORS: Final[tuple[Color, ...]] = ("auto", "always", "never")
AUTHS: Final[tuple[Auth, ...]] = ("bearer", "basic")
DEFAULT_PROFILE: Final = "default"


class Profile(NamedTuple):
    """One account's settings; only one that stands in no file has no `base_url`."""

    name: str
    base_url: BaseUrl | None = None
    api_version: str | None = None
    auth: Auth = "bearer"
    sandbox: bool = False
    proxy: str | None = None
    ca_bundle: str | None = None


class Config(NamedTuple):
    """A frozen view of the file at `path`; `max_time` is in seconds."""

    path: Path
    active_profile: str | None = None
    profiles: Mapping[str, Profile] = MappingProxyType({})
    output: Format | None = None
    color: Color | None = None
    max_time: float | None = None
    cache: bool = True
    keyring_backends: tuple[str, ...] = ()

    @property
    def active(self) -> Profile:
        """The profile that is used where none is named.

        Raises:
            ConfigError: the file names one that it does not hold.
        """
        name = self.active_profile or DEFAULT_PROFILE
        if name in self.profiles or name == DEFAULT_PROFILE:
            return self.profile(name)
        raise ConfigError(
            f"{self.path}: active_profile is {name!r}, and there is no such profile.",
            code="profile_unknown",
            hint=f"Known: {self._known()}. Choose one: svc profiles use NAME",
        )

    def profile(self, name: str) -> Profile:
        """Finds a profile; `default` is always there, though perhaps empty.

        Raises:
            ConfigError: there is no profile of that name.
        """
        if name in self.profiles:
            return self.profiles[name]
        if name == DEFAULT_PROFILE:
            return Profile(name)
        raise ConfigError(
            f"There is no profile {name!r} (known: {self._known()}).",
            code="profile_unknown",
            param="profile",
            hint=f"Create it: svc profiles create {name} --base-url URL",
        )

    def is_sandbox(self, address: BaseUrl) -> bool:
        """Says whether a sandbox of this machine was started at this address."""
        return address.is_loopback and any(
            profile.sandbox and profile.base_url and profile.base_url.origin == address.origin
            for profile in self.profiles.values()
        )

    def _known(self) -> str:
        return ", ".join(sorted(self.profiles)) or "none"
