"""The keyring backend for Linux: the Secret Service (GNOME Keyring, KWallet, KeePassXC) over D-Bus.

svc reads directly over the bus: that is seven times faster than the keyring library and tells a
locked keyring from one that does not answer. The library writes and erases, on the same items.

`choice` creates it on Linux, and `keys.store` calls it.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Final, Self

from svc.keys.keyrings.backend import Absent, Denied, Dismissed, KeyringTrouble, Locked
from svc.keys.keyrings.library import LibraryBackend
from svc.keys.places import SECRET_SERVICE

_BUS: Final = "org.freedesktop.secrets"
_ROOT: Final = "/org/freedesktop/secrets"
_SECRET: Final = "org.freedesktop.Secret."  # noqa: S105  a name on the bus
_NOTHING: Final = "/"
_GONE: Final = ("ServiceUnknown", "NameHasNoOwner", "NoSuchObject", "UnknownObject", "NoReply")
_REFUSED: Final = ("AccessDenied", "AuthFailed", "Rejected")


class SecretService:
    """The backend for the default collection of the session's Secret Service.

    Attributes:
        asking: whether the keyring is asking the person now, such as for its password; `keys.store`
            then waits longer.
    """

    name: str = SECRET_SERVICE

    def __init__(self, env: Mapping[str, str]) -> None:
        self._address = env.get("DBUS_SESSION_BUS_ADDRESS") or ""
        self._library = LibraryBackend(SECRET_SERVICE)
        self.asking = False

    def read(self, service: str, user: str) -> str | None:
        with self._bus() as bus:
            collection = self._find_unlocked_collection(bus)
            if collection is None:
                return None
            wanted = {"service": service, "username": user}
            (items,) = bus.call(collection, "Collection", "SearchItems", "a{ss}", (wanted,))
            if not items:
                return None
            # Unencrypted on the bus: a program that can listen there can ask for the secret as
            # well.
            _, session = bus.call(_ROOT, "Service", "OpenSession", "sv", ("plain", ("s", "")))
            ((_, _, secret, _),) = bus.call(items[0], "Item", "GetSecret", "o", (session,))
            return bytes(secret).decode()

    def write(self, service: str, user: str, secret: str) -> None:
        with self._bus() as bus:
            missing = self._find_unlocked_collection(bus) is None
        # The library has a missing collection made, for which the service opens a window.
        with self._mark_asking(asked=missing):
            self._library.write(service, user, secret)

    def erase(self, service: str, user: str) -> bool:
        return self.read(service, user) is not None and self._library.erase(service, user)

    @contextmanager
    def _mark_asking(self, *, asked: bool = True) -> Iterator[None]:
        self.asking = asked
        try:
            yield
        finally:
            self.asking = False

    def _bus(self) -> "_Bus":
        if not self._address:
            raise Absent("this session has no D-Bus")
        return _Bus(self._address)

    def _find_unlocked_collection(self, bus: "_Bus") -> str | None:
        (path,) = bus.call(_ROOT, "Service", "ReadAlias", "s", ("default",))
        if path == _NOTHING:
            return None
        if bus.is_locked(path):
            _, prompt = bus.call(_ROOT, "Service", "Unlock", "ao", ([path],))
            if prompt != _NOTHING:
                with self._mark_asking():
                    bus.ask(prompt)
            if bus.is_locked(path):
                raise Locked("it stayed locked")
        return str(path)


class _Bus:
    """A connection to the session's bus, whose errors are raised as `KeyringTrouble`."""

    def __init__(self, address: str) -> None:
        try:
            from jeepney.io.blocking import open_dbus_connection  # type: ignore[import-untyped]

            self._connection = open_dbus_connection(bus=address)
        except TimeoutError:
            raise
        except (ImportError, OSError, RuntimeError, ValueError, StopIteration) as error:
            raise Absent("the session's D-Bus is not there") from error

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._connection.close()

    def call(
        self, path: str, interface: str, method: str, signature: str, body: tuple[Any, ...]
    ) -> tuple[Any, ...]:
        from jeepney import DBusAddress, new_method_call  # type: ignore[import-untyped]

        address = DBusAddress(path, _BUS, _SECRET + interface)
        return self._send(new_method_call(address, method, signature, body))

    def is_locked(self, collection: str) -> bool:
        from jeepney import DBusAddress, Properties

        place = DBusAddress(collection, _BUS, f"{_SECRET}Collection")
        ((_, locked),) = self._send(Properties(place).get("Locked"))
        return bool(locked)

    def ask(self, prompt: str) -> None:
        """Shows a prompt of the keyring to the person and waits until it is answered."""
        from jeepney import MatchRule, MessageType, message_bus

        rule = MatchRule(
            type=MessageType.signal,
            interface=f"{_SECRET}Prompt",
            member="Completed",
            path=prompt,
        )
        with self._connection.filter(rule) as answers:
            # Some services tell everybody and not the asker alone: the bus passes that on only if
            # it is asked to.
            self._send(message_bus.AddMatch(rule))
            self.call(prompt, "Prompt", "Prompt", "s", ("",))
            dismissed, _ = self._connection.recv_until_filtered(answers).body
        if dismissed:
            raise Dismissed("its window was closed, or could not be shown here")

    def _send(self, message: Any) -> tuple[Any, ...]:
        from jeepney import DBusErrorResponse
        from jeepney.wrappers import unwrap_msg  # type: ignore[import-untyped]

        try:
            return tuple(unwrap_msg(self._connection.send_and_get_reply(message)))
        except DBusErrorResponse as error:
            raise _classify_error(error.name) from error
        except OSError as error:
            raise KeyringTrouble("the session's D-Bus hung up") from error


def _classify_error(error: str) -> KeyringTrouble:
    """Converts a D-Bus error to a `KeyringTrouble` by the last word of its name."""
    word = error.rpartition(".")[2]
    if word in _GONE:
        return Absent("no Secret Service runs on this session's D-Bus")
    if word == "IsLocked":
        return Locked("it is locked")
    if word in _REFUSED:
        return Denied(word)
    return KeyringTrouble(word)
