"""The real Secret Service, and buses that are absent or silent."""

import os
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from support.suite.patience import patient
from svc.errors import KeyStoreError
from svc.keys.keyrings.secret_service import SecretService
from svc.keys.store import KeyStore

USER = "https://api.example.com|default|test"


def system_store() -> KeyStore:
    return KeyStore.of_system(os.environ, allowed=(), platform="linux", person=False)


@pytest.mark.usefixtures("gnome_keyring")
def test_a_real_keyring_keeps_replaces_and_forgets() -> None:
    """The whole life of a key in GNOME Keyring, through the bus and the keyring library."""
    store = system_store()
    assert store.get(USER) is None
    assert store.put(USER, "sk_test_first") == "keyring.backends.SecretService.Keyring"
    found = store.get(USER)
    assert found is not None
    assert found.secret == "sk_test_first"
    store.put(USER, "sk_test_second")
    found = store.get(USER)
    assert found is not None
    assert found.secret == "sk_test_second"
    assert store.get(USER.replace("test", "live")) is None
    assert store.remove(USER)
    assert store.get(USER) is None
    assert not store.remove(USER)


@pytest.mark.usefixtures("gnome_keyring")
def test_both_ways_see_the_same_items() -> None:
    """What we read over the bus is what the library wrote, and every copy is removed."""
    from keyring.backends.SecretService import Keyring

    library: Any = Keyring()  # type: ignore[no-untyped-call]
    library.set_password("svc", USER, "sk_test_first")
    ours = SecretService(os.environ)
    assert ours.read("svc", USER) == "sk_test_first"
    ours.write("svc", USER, "sk_test_second")
    assert library.get_password("svc", USER) == "sk_test_second"
    library.appid = "another program"
    library.set_password("svc", USER, "sk_test_third")
    assert system_store().remove(USER)
    assert library.get_password("svc", USER) is None


@pytest.mark.usefixtures("gnome_keyring")
def test_a_locked_keyring_is_named_as_locked() -> None:
    """Where no window can be shown, it stays locked: exit 4 at once, and no loop."""
    system_store().put(USER, "sk_test_first")
    lock_default_collection()
    started = time.monotonic()
    with pytest.raises(KeyStoreError, match="is locked") as caught:
        system_store().get(USER)
    assert time.monotonic() - started < patient(4)
    assert "SVC_API_KEY" in str(caught.value.hint)


def lock_default_collection() -> None:
    from jeepney import DBusAddress, new_method_call  # type: ignore[import-untyped]
    from jeepney.io.blocking import open_dbus_connection  # type: ignore[import-untyped]

    service = DBusAddress(
        "/org/freedesktop/secrets", "org.freedesktop.secrets", "org.freedesktop.Secret.Service"
    )
    alias = "/org/freedesktop/secrets/aliases/default"
    with open_dbus_connection() as bus:
        bus.send_and_get_reply(new_method_call(service, "Lock", "ao", ([alias],)))


@pytest.mark.parametrize(
    "address",
    ["", "unix:path=/nowhere/bus", "tcp:host=127.0.0.1,port=1", "nonsense", "unix:guid=1"],
)
def test_no_bus_is_an_absent_keyring(monkeypatch: pytest.MonkeyPatch, address: str) -> None:
    """Exit 4 at once, naming SVC_API_KEY."""
    monkeypatch.delenv("PYTHON_KEYRING_BACKEND")
    monkeypatch.setenv("DBUS_SESSION_BUS_ADDRESS", address)
    with pytest.raises(KeyStoreError, match="no usable keyring") as caught:
        system_store().get(USER)
    assert caught.value.code == "keyring_absent"
    assert "SVC_API_KEY" in str(caught.value.hint)


@pytest.mark.usefixtures("session_bus")
def test_a_bus_without_a_secret_service_is_an_absent_keyring() -> None:
    """The bus says that nobody offers the service."""
    with pytest.raises(KeyStoreError, match="no usable keyring"):
        system_store().get(USER)


class SilentBus:
    """A D-Bus that authenticates and then never answers."""

    def __init__(self, path: Path) -> None:
        self._server = socket.socket(socket.AF_UNIX)
        self._server.bind(str(path))
        self._server.listen()
        self.address = f"unix:path={path}"
        self.authenticated = threading.Event()
        self._thread = threading.Thread(target=self._serve)
        self._thread.start()

    def _serve(self) -> None:
        connection, _ = self._server.accept()
        with connection:
            while data := connection.recv(4096):
                if b"AUTH" in data:
                    connection.sendall(b"OK 0123456789abcdef0123456789abcdef\r\n")
                if b"BEGIN" in data:
                    self.authenticated.set()

    def close(self) -> None:
        self._thread.join()
        self._server.close()


def test_a_bus_that_never_answers_costs_at_most_four_seconds(tmp_path: Path) -> None:
    """R35: the limit is three seconds and the whole at most four; the process ends."""
    bus = SilentBus(tmp_path / "bus")
    code = (
        "import os, time\n"
        "from svc.errors import KeyStoreError\n"
        "from svc.keys.store import KeyStore\n"
        "store = KeyStore.of_system(os.environ, allowed=(), platform='linux', person=True)\n"
        "started = time.monotonic()\n"
        "try: store.get('u')\n"
        "except KeyStoreError as error: print(time.monotonic() - started, error.code)\n"
    )
    env = {**os.environ, "DBUS_SESSION_BUS_ADDRESS": bus.address, "PYTHON_KEYRING_BACKEND": ""}
    done = subprocess.run(
        [sys.executable, "-c", code],
        env=env,
        capture_output=True,
        text=True,
        check=True,
    )
    bus.close()
    assert bus.authenticated.is_set()
    seconds, code = done.stdout.split()
    assert code == "keyring_timeout"
    assert 2.9 <= float(seconds) <= patient(4)
