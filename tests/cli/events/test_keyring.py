"""Signing secrets of a service that is no sandbox, in a real keyring."""

import json
import time
from pathlib import Path

import pytest

from cli.events.test_rotation import deliver
from support.absence import holding
from support.listeners import Listen
from support.listening import event
from support.running import Svc
from svc.signature import header_value

Registered = list[dict[str, list[str]]]


@pytest.fixture
def real(service: str, monkeypatch: pytest.MonkeyPatch) -> str:
    """The environment of somebody who works with that service."""
    monkeypatch.setenv("SVC_BASE_URL", service)
    monkeypatch.setenv("SVC_API_KEY", "sk_test_abcdefghijklmnop")
    return service


@pytest.mark.usefixtures("gnome_keyring", "real")
def test_endpoint_and_secret_are_found_again(
    registered: Registered, svc: Svc, isolated: Path, tmp_path: Path, listen: Listen
) -> None:
    """Registered once and verified with the keyring's secret ever after; none lies in a file."""
    for _ in range(2):
        with listen(tmp_path) as running:
            [ready] = running.wait("ready")
            assert ready["endpoint"] == "we_1"
            assert deliver(ready["url"], event(), "whsec_of_1") == 200
            running.end()
    assert len(registered) == 1
    shown = svc.ok("events", "listen", "--print-secret", "-o", "json")
    assert shown["secrets"] == ["whsec_of_1"]
    checked = svc(
        "events",
        "verify",
        "--header",
        header_value(event(), ["whsec_of_1"], int(time.time())),
        stdin=event().decode(),
    )
    assert checked.json["verified"] is True
    assert holding(isolated / "state", b"whsec_of_1") == []


@pytest.mark.usefixtures("real")
def test_without_a_keyring_it_says_what_that_means(
    registered: Registered, svc: Svc, isolated: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """R34: no plain file; each run leaves an endpoint behind, and names it and who can remove it."""
    monkeypatch.setenv("DBUS_SESSION_BUS_ADDRESS", "unix:path=/nowhere")
    monkeypatch.delenv("PYTHON_KEYRING_BACKEND")
    said = [svc("events", "listen", "-o", "ndjson", "--timeout", "0.1") for _ in range(2)]
    assert [json.loads(one.out.splitlines()[0])["endpoint"] for one in said] == ["we_1", "we_2"]
    assert "held for this run only" in said[0].err
    assert "no call to delete it: disable it in the dashboard afterwards" in said[0].err
    assert "no call to delete the earlier we_1: disable it in the dashboard" in said[1].err
    assert "used again" not in said[0].err + said[1].err
    assert holding(isolated, b"we_1") != []
    assert holding(isolated, b"whsec_") == []


@pytest.mark.usefixtures("real")
def test_own_secret_of_a_logs_reader_is_shown_only_where_it_can_be_kept(svc: Svc) -> None:
    """Without a keyring each run has another one, and where that stands is said."""
    done = svc("events", "listen", "--from", "nats://127.0.0.1:1/shop", "--print-secret")
    assert (done.code, done.out) == (4, "")
    assert done.error["type"] == "key_store_error"
    assert "in SVC_WEBHOOK_SECRET of --exec" in done.error["message"]


@pytest.mark.usefixtures("real")
@pytest.mark.parametrize(
    ("scheme", "kind"), [("nats+tls", "key_store_error"), ("nats", "log_unavailable")]
)
def test_a_log_elsewhere_is_not_asked_without_its_credentials(
    svc: Svc, scheme: str, kind: str
) -> None:
    """One of this machine may need none; for another a keyring that is refused is the reason."""
    done = svc("events", "log", "status", "--from", f"{scheme}://127.0.0.1:1/shop")
    assert done.error["type"] == kind
