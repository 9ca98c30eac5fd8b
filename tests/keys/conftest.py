"""What the tests of keys share: keyrings that are fakes, named as such, and a real one.

Test modules name the types below under TYPE_CHECKING only; at run time they come as fixtures.
"""

import shutil
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from svc.clock import ManualClock
from svc.keys.backend import KeyringTrouble
from svc.keys.facts import KeyFacts
from svc.keys.store import KeyStore


class FakeKeyring:
    """A keyring in memory that can be told to misbehave.

    Attributes:
        items: what it holds, by user name.
        calls: every call, as `read USER`.
        trouble: raised by every call while it is set.
        loses: it accepts a secret and keeps nothing, like the library's null keyring.
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
            self.items[user] = secret

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


@pytest.fixture
def killed() -> type[BaseException]:
    return Killed


@pytest.fixture
def make_fake() -> Callable[..., FakeKeyring]:
    """Makes further fake keyrings."""
    return FakeKeyring


@pytest.fixture
def fake() -> FakeKeyring:
    """A fake keyring."""
    return FakeKeyring()


@pytest.fixture
def store(fake: FakeKeyring) -> KeyStore:
    """A key store that has only the fake keyring."""
    return KeyStore([fake])


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
def facts(tmp_path: Path, clock: ManualClock) -> KeyFacts:
    """Key facts in a database that is not there yet."""
    return KeyFacts(tmp_path / "state" / "state.db", clock)


BUS = """
<busconfig>
  <type>session</type>
  <listen>unix:tmpdir=/tmp</listen>
  <policy context="default">
    <allow send_destination="*" eavesdrop="true"/>
    <allow eavesdrop="true"/>
    <allow own="*"/>
  </policy>
</busconfig>
"""


@pytest.fixture
def session_bus(isolated: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A real D-Bus of its own, on which nobody offers a Secret Service."""
    needs("dbus-daemon")
    config = isolated / "bus.conf"
    config.write_text(BUS)
    command = ["dbus-daemon", f"--config-file={config}", "--nofork", "--print-address"]
    monkeypatch.delenv("PYTHON_KEYRING_BACKEND")
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as bus:
        assert bus.stdout is not None
        address = bus.stdout.readline().decode().strip()
        monkeypatch.setenv("DBUS_SESSION_BUS_ADDRESS", address)
        yield
        bus.terminate()


@pytest.fixture
def gnome_keyring(
    session_bus: None, isolated: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[None]:
    """A real GNOME Keyring, unlocked, on that bus."""
    needs("gnome-keyring-daemon")
    runtime = isolated / "run"
    runtime.mkdir(mode=0o700)
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(runtime))
    command = ["gnome-keyring-daemon", "--foreground", "--unlock", "--components=secrets"]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    ) as ring:
        assert ring.stdin is not None
        ring.stdin.write(b"a password\n")
        ring.stdin.close()
        await_name("org.freedesktop.secrets")
        yield
        ring.terminate()


def await_name(name: str) -> None:
    from jeepney import message_bus  # type: ignore[import-untyped]
    from jeepney.io.blocking import Proxy, open_dbus_connection  # type: ignore[import-untyped]

    with open_dbus_connection() as bus:
        deadline = time.monotonic() + 10
        while not Proxy(message_bus, bus).NameHasOwner(name)[0]:
            assert time.monotonic() < deadline, f"{name} did not appear"
            time.sleep(0.01)


def needs(program: str) -> None:
    if shutil.which(program) is None:
        pytest.skip(f"{program} is not installed (Debian packages: dbus, gnome-keyring)")
