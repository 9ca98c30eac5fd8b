"""A keyring of the test's own, and the death of a process in the midst of it."""

import threading

from svc.keys.keyrings.backend import KeyringTrouble


class FakeKeyring:
    """A keyring in memory that can be told to misbehave.

    Attributes:
        items: what it holds, by user name.
        calls: every call, as `read USER`.
        trouble: raised by every call while it is set.
        loses: it accepts a secret and keeps nothing, like the library's null keyring.
        alters: it keeps a secret without its last character, like one with a limit of length.
        keeps: it says that it erased and did not.
        gap: replacing removes first, and the process is killed before the new secret is in.
        hangs: its calls wait for this.
    """

    def __init__(self, name: str = "fake.Keyring") -> None:
        self.name = name
        self.asking = False
        self.items: dict[str, str] = {}
        self.calls: list[str] = []
        self.trouble: KeyringTrouble | None = None
        self.loses = False
        self.alters = False
        self.keeps = False
        self.gap: str | None = None
        self.hangs: threading.Event | None = None

    def read(self, service: str, user: str) -> str | None:
        self._called("read", service, user)
        return self.items.get(user)

    def write(self, service: str, user: str, secret: str) -> None:
        self._called("write", service, user)
        if self.gap == user:
            self.items.pop(user, None)
            raise Killed
        if not self.loses:
            self.items[user] = secret[:-1] if self.alters else secret

    def erase(self, service: str, user: str) -> bool:
        self._called("erase", service, user)
        if self.keeps:
            return user in self.items
        return self.items.pop(user, None) is not None

    def _called(self, what: str, service: str, user: str) -> None:
        assert service == "svc"
        self.calls.append(f"{what} {user}")
        if self.hangs is not None:
            self.hangs.wait(30)
        if self.trouble is not None:
            raise self.trouble


class Killed(BaseException):
    """Stands for kill -9: nothing after it runs."""
