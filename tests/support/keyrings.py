"""A real keyring on a real bus, for tests that need one."""

import shutil
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from support.suite.patience import WAIT_SECONDS

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
        deadline = time.monotonic() + WAIT_SECONDS
        while not Proxy(message_bus, bus).NameHasOwner(name)[0]:
            assert time.monotonic() < deadline, f"{name} did not appear"
            time.sleep(0.01)


def needs(program: str) -> None:
    if shutil.which(program) is None:
        pytest.skip(f"{program} is not installed (Debian packages: dbus, gnome-keyring)")
