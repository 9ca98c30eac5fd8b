"""What a stored secret is bound to, and so what its keyring item is called."""

from typing import Final, Literal, NamedTuple, TypeAlias

from svc.keys.kinds import Mode

Slot: TypeAlias = Literal["secret", "publishable"]

SERVICE: Final = "svc"


class Place(NamedTuple):
    """One origin, profile and mode hold one secret or restricted key (promises R22, R37).

    A publishable key, which only the sandbox's checkout takes, lies beside it.
    """

    origin: str
    profile: str
    mode: Mode
    slot: Slot = "secret"

    @property
    def user(self) -> str:
        """The user name of the keyring item, whose service name is `svc`."""
        name = f"{self.origin}|{self.profile}|{self.mode}"
        return name if self.slot == "secret" else f"{name}|{self.slot}"

    def user_of_endpoint(self, endpoint_id: str) -> str:
        """The same for the signing secret of a webhook endpoint."""
        return f"{self.origin}|{self.profile}|{self.mode}|{endpoint_id}"
