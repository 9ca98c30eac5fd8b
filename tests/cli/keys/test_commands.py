"""`svc keys` through the real program, with a fake keyring and a real sandbox."""

import os
import shlex
import socket
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

from support.on_terminal import AtTerminal, OpenTerminal
from support.ring_file import FakeRing
from support.running import Sandbox, Svc
from svc.api_keys import parse
from svc.clock import SystemClock
from svc.keys.facts import KeyFacts
from svc.keys.places import KeyPlace

CANARY = "sk_test_4eC39HqLyjWDarjtT1zdp7dc"
LIVE = "sk_live_4eC39HqLyjWDarjtT1zdp7dc"
ELSEWHERE = "https://api.example.com"  # never reached: --no-check, or a proxy of ours


@pytest.fixture
def at_sandbox(sandbox: Sandbox, fake_ring: FakeRing, monkeypatch: pytest.MonkeyPatch) -> Sandbox:
    """The sandbox's address and no key: the program does not know that it is a sandbox."""
    monkeypatch.delenv("SVC_API_KEY", raising=False)
    return sandbox


def add(svc: Svc, key: str, *argv: str) -> Any:
    return svc.ok("keys", "add", "--stdin", *argv, stdin=f"{key}\n")


def test_a_key_is_added_checked_used_listed_and_removed(
    svc: Svc, at_sandbox: Sandbox, fake_ring: FakeRing
) -> None:
    """The whole story: one item per origin, profile and mode; the service is asked first."""
    assert svc("orders", "list").code == 4
    added = add(svc, "sk_test_sandbox")
    expected = {
        "profile": "default",
        "origin": at_sandbox.url,
        "mode": "test",
        "kind": "secret",
        "fingerprint": "sk_test_…",
        "keyring": "fake_file_ring.Keyring",
    }
    assert {name: added[name] for name in expected} == expected
    assert added["added"] == added["checked"]
    assert fake_ring.items == {f"svc {at_sandbox.url}|default|test": "sk_test_sandbox"}
    assert svc.ok("orders", "list")["data"] == []
    assert svc.ok("keys", "list") == [added]
    svc.ok("profiles", "create", "other", "--base-url", ELSEWHERE)
    assert svc.ok("keys", "list", "--profile", "other") == []
    svc.ok("profiles", "remove", "other", "--yes")
    removed = svc.ok("keys", "remove")
    assert removed == {
        "object": "key",
        "profile": "default",
        "origin": at_sandbox.url,
        "mode": "test",
        "removed": True,
    }
    assert fake_ring.items == {}
    assert svc.ok("keys", "list") == []
    assert svc("orders", "list").code == 4


def test_people_read_the_same_in_words(svc: Svc, at_sandbox: Sandbox, fake_ring: FakeRing) -> None:
    """Human output names where the key goes and how to tell it, not the key."""
    shown = svc("keys", "add", "--stdin", "-o", "human", stdin="sk_test_sandbox")
    for words in ("default", at_sandbox.url, "test", "secret", "sk_test_…"):
        assert words in shown.out
    assert "sk_test_sandbox" not in shown.out + shown.err
    assert at_sandbox.url in svc("keys", "list", "-o", "human").out
    svc.ok("keys", "remove")
    empty = svc("keys", "list", "-o", "human")
    assert "svc keys add" in empty.err


def test_a_key_that_the_service_does_not_know_is_not_stored(
    svc: Svc, at_sandbox: Sandbox, fake_ring: FakeRing
) -> None:
    """Exit 4, with what the service said; --no-check stores it all the same."""
    refused = svc("keys", "add", "--stdin", stdin=CANARY)
    assert refused.code == 4
    assert refused.error["message"].startswith("Nothing was stored: ")
    assert "does not know the key sk_test_…p7dc" in refused.error["message"]
    assert refused.error["request_id"].startswith("req_")
    assert fake_ring.items == {}
    assert svc.ok("keys", "list") == []
    assert add(svc, CANARY, "--no-check")["checked"] is None


def test_a_refused_key_of_the_environment_is_named_with_its_profile(
    svc: Svc, at_sandbox: Sandbox, fake_ring: FakeRing
) -> None:
    """Set for one profile and used in another, it is the variable that is wrong."""
    svc.ok("profiles", "create", "shop", "--base-url", at_sandbox.url)
    add(svc, CANARY, "--no-check", "--profile", "shop")
    env = {"SVC_API_KEY": CANARY}
    refused = svc("orders", "list", "--profile", "default", env=env).error["message"]
    assert "It is the key of profile shop; SVC_API_KEY is used for every profile" in refused
    refused = svc("orders", "list", "--profile", "shop", env={"SVC_API_KEY": f"{CANARY}2"})
    told = "It is used in place of the key that is stored for profile shop."
    assert told in refused.error["message"]


def test_a_service_that_cannot_be_reached_leaves_nothing_stored(
    svc: Svc, fake_ring: FakeRing
) -> None:
    """Exit 8, naming --no-check."""
    with socket.create_server(("127.0.0.1", 0)) as closed:
        port = closed.getsockname()[1]
    url = f"http://127.0.0.1:{port}"
    failed = svc(
        "keys", "add", "--stdin", "--base-url", url, "--max-time", "1", "-o", "human", stdin=CANARY
    )
    assert failed.code == 8
    assert "--no-check" in failed.err
    assert fake_ring.items == {}


def test_the_check_goes_through_the_proxy(svc: Svc, fake_ring: FakeRing) -> None:
    """R26: like every other call, by CONNECT, so that the proxy does not see the key."""
    heard: list[bytes] = []
    with socket.create_server(("127.0.0.1", 0)) as proxy:
        thread = threading.Thread(target=lambda: heard.append(first_words(proxy)))
        thread.start()
        env = {"HTTPS_PROXY": f"http://127.0.0.1:{proxy.getsockname()[1]}"}
        argv = ("--base-url", ELSEWHERE, "--max-time", "1")
        assert svc("keys", "add", "--stdin", *argv, stdin=CANARY, env=env).code == 8
        thread.join()
    assert heard[0].startswith(b"CONNECT api.example.com:443 ")
    assert b"4eC39" not in heard[0]


def first_words(listener: socket.socket) -> bytes:
    connection, _ = listener.accept()
    with connection:
        return connection.recv(65536)


def test_mode_and_kind_come_from_the_prefix(svc: Svc, fake_ring: FakeRing) -> None:
    argv = ("--no-check", "--base-url", ELSEWHERE)
    assert add(svc, CANARY, *argv)["mode"] == "test"
    assert add(svc, LIVE, *argv)["mode"] == "live"
    assert add(svc, CANARY.replace("sk_", "rk_"), *argv)["kind"] == "restricted"
    assert sorted(fake_ring.items) == [
        f"svc {ELSEWHERE}|default|live",
        f"svc {ELSEWHERE}|default|test",
    ]


@pytest.mark.parametrize(
    ("key", "argv", "code", "words"),
    [
        pytest.param(CANARY, ["--live"], 4, "--live asks for a live key", id="test key as live"),
        pytest.param(LIVE, ["--test"], 4, "--test asks for a test key", id="live key as test"),
        pytest.param("pk_test_abcdefgh", [], 4, "cannot read or change data", id="publishable"),
        pytest.param(CANARY, ["--publishable"], 2, "not a publishable key", id="not publishable"),
        pytest.param("", [], 2, "empty", id="nothing"),
        pytest.param("hunter2", [], 2, "no API key", id="no key"),
        pytest.param(f" {CANARY}", [], 2, "no usable key", id="space before"),
        pytest.param(f"{CANARY}\n\n", [], 2, "no usable key", id="two line ends"),
        pytest.param(f"{CANARY}\0", [], 2, "no usable key", id="NUL"),
        pytest.param(f"{CANARY}é", [], 2, "no usable key", id="not ASCII"),
        pytest.param(
            CANARY, ["--base-url", "http://api.example.com"], 2, "in clear", id="plain http"
        ),
        pytest.param(
            LIVE, ["--base-url", "http://127.0.0.1:9"], 4, "this machine", id="live on loopback"
        ),
        pytest.param(CANARY, ["--profile", "nope"], 2, "no profile 'nope'", id="no profile"),
    ],
)
def test_what_may_not_be_stored_is_refused(
    svc: Svc, fake_ring: FakeRing, key: str, argv: list[str], code: int, words: str
) -> None:
    """R21, R30, R37, R44: nothing is stored, and the key is not repeated."""
    base = [] if "--base-url" in argv else ["--base-url", ELSEWHERE]
    refused = svc("keys", "add", "--stdin", "--no-check", *base, *argv, stdin=key)
    assert (refused.code, refused.out) == (code, "")
    assert words in refused.error["message"]
    assert "4eC39" not in refused.err
    assert fake_ring.items == {}


def test_a_carriage_return_is_not_lost_on_the_way(fake_ring: FakeRing) -> None:
    """R44: a text stream would hide it, so the bytes are read."""
    done = subprocess.run(
        [sys.executable, "-m", "svc", "keys", "add", "--stdin", "--base-url", ELSEWHERE],
        input=f"{CANARY}\r\n".encode(),
        capture_output=True,
        check=False,
    )
    assert done.returncode == 2
    assert b"line ends" in done.stderr


def test_a_key_is_no_argument(svc: Svc, fake_ring: FakeRing) -> None:
    """R31, R32: there is no way to put it on the command line, where others could read it."""
    whole = ("keys", "add", "--no-check", "--base-url", ELSEWHERE)  # nothing else is wrong with it
    for argv in ((*whole, CANARY), (*whole, "--key", CANARY), ("--api-key", CANARY, *whole)):
        refused = svc(*argv)
        assert (refused.code, refused.error["type"]) == (2, "usage_error"), refused.err
        assert "4eC39" not in refused.err
    assert fake_ring.items == {}


def test_nobody_is_prompted_without_a_terminal(svc: Svc, fake_ring: FakeRing) -> None:
    """R76: exit 2 at once, naming the option."""
    refused = svc("keys", "add", "--base-url", ELSEWHERE)
    assert refused.code == 2
    assert "--stdin" in refused.error["param"]


@pytest.mark.parametrize("more", [(), ("--stdin",)])
def test_a_person_types_the_key_unseen(
    at_terminal: AtTerminal, fake_ring: FakeRing, more: tuple[str, ...]
) -> None:
    """R31: the prompt says for what; the screen does not show the key, with --stdin neither."""
    argv = ("keys", "add", "--no-check", "--base-url", ELSEWHERE, *more)
    done = at_terminal(f"{CANARY}\n", *argv)
    assert done.code == 0, done.out
    assert f"API key for {ELSEWHERE} (profile default):" in done.out
    assert "4eC39" not in done.out
    assert list(fake_ring.items.values()) == [CANARY]


def test_a_terminal_is_not_read_as_a_pipe(at_terminal: AtTerminal, fake_ring: FakeRing) -> None:
    """R31: with --no-input nothing hides what is typed, so --stdin does not take it."""
    argv = ("keys", "add", "--no-check", "--base-url", ELSEWHERE, "--stdin", "--no-input")
    done = at_terminal("\x04", *argv)
    assert done.code == 2, done.out
    assert "--no-input was given" in done.out
    assert "no terminal" not in done.out
    assert "--stdin < FILE" in done.out
    assert fake_ring.items == {}


def test_a_person_may_think_better_of_it(at_terminal: AtTerminal, fake_ring: FakeRing) -> None:
    """Ctrl-D ends with 2 and Ctrl-C with 130; nothing is stored."""
    argv = ("keys", "add", "--no-check", "--base-url", ELSEWHERE)
    assert at_terminal("\x04", *argv).code == 2
    assert at_terminal("\x03", *argv).code == 130
    assert fake_ring.items == {}


def test_ctrl_c_in_front_of_a_hidden_key_has_the_terminal_show_again(
    open_terminal: OpenTerminal, fake_ring: FakeRing
) -> None:
    """R78: else whatever is typed next, in any program, would not be seen."""
    with open_terminal("keys", "add", "--no-check", "--base-url", ELSEWHERE) as terminal:
        terminal.read_until(": ")
        terminal.press_ctrl_c()
        assert (terminal.end(), terminal.shows_typing) == (130, True)


def test_a_key_goes_to_no_other_origin(svc: Svc, at_sandbox: Sandbox, fake_ring: FakeRing) -> None:
    """R22: neither --base-url nor the environment nor the file leads a stored key elsewhere."""
    add(svc, "sk_test_sandbox")
    with socket.create_server(("127.0.0.1", 0)) as thief:
        thief.setblocking(False)
        url = f"http://127.0.0.1:{thief.getsockname()[1]}"
        for argv, env in ((["--base-url", url], {}), ([], {"SVC_BASE_URL": url})):
            refused = svc("orders", "list", *argv, env=env)
            assert refused.code == 4
            assert (
                f"was added for {at_sandbox.url} and is not given to {url}"
                in (refused.error["message"])
            )
        with pytest.raises(BlockingIOError):
            thief.accept()


def test_the_variable_wins_and_is_mentioned(
    svc: Svc, at_sandbox: Sandbox, fake_ring: FakeRing
) -> None:
    """A forgotten SVC_API_KEY is the usual reason for a key that seems not to be used."""
    add(svc, "sk_test_sandbox")
    env = {"SVC_API_KEY": CANARY}
    assert svc("orders", "list", env=env).code == 4
    listed = svc("keys", "list", env=env)
    assert "SVC_API_KEY is set" in listed.err
    assert "4eC39" not in listed.out + listed.err


@pytest.mark.effect_of("keys add", "--publishable")
@pytest.mark.effect_of("keys remove", "--publishable")
def test_a_publishable_key_lies_beside_the_secret_one(svc: Svc, fake_ring: FakeRing) -> None:
    """For the sandbox's checkout; it is never used for a call."""
    argv = ("--base-url", ELSEWHERE)
    add(svc, CANARY, "--no-check", *argv)
    added = add(svc, "pk_test_4eC39HqLyjWDarjtT1zdp7dc", "--publishable", *argv)
    assert (added["kind"], added["checked"]) == ("publishable", None)
    assert [each["kind"] for each in svc.ok("keys", "list")] == ["publishable", "secret"]
    svc.ok("keys", "remove", "--publishable", *argv)
    assert list(fake_ring.items.values()) == [CANARY]


def test_removing_what_is_not_there_is_an_error(svc: Svc, fake_ring: FakeRing) -> None:
    """Exit 4: a script that believes it removed a key must not be wrong."""
    refused = svc("keys", "remove", "--live", "--base-url", ELSEWHERE)
    assert refused.code == 4
    assert "No live key of profile default is stored" in refused.error["message"]


def test_listing_reads_no_key(svc: Svc, fake_ring: FakeRing) -> None:
    """R38: some systems ask the person for every item that is read."""
    add(svc, CANARY, "--no-check", "--base-url", ELSEWHERE)
    before = fake_ring.calls
    svc.ok("keys", "list")
    assert fake_ring.calls == before


def test_a_call_reads_one_key_once(svc: Svc, at_sandbox: Sandbox, fake_ring: FakeRing) -> None:
    """R38: that of the mode in use."""
    add(svc, "sk_test_sandbox")
    before = len(fake_ring.calls)
    svc.ok("orders", "list")
    assert fake_ring.calls[before:] == [f"read {at_sandbox.url}|default|test"]


def test_the_key_is_in_the_keyring_and_nowhere_else(
    svc: Svc, isolated: Path, fake_ring: FakeRing
) -> None:
    """R34, R40: not in the configuration, the state database, a log or the cache."""
    argv = ("--base-url", ELSEWHERE)
    add(svc, CANARY, "--no-check", *argv)
    svc("keys", "add", "--stdin", "--no-check", "-v", *argv, stdin=LIVE)
    svc("orders", "list", "--max-time", "1", "--base-url", "http://127.0.0.1:9")
    svc("keys", "list")
    files = [path for path in isolated.rglob("*") if path.is_file()]
    assert any(path.name == "state.db" for path in files)
    for path in files:
        assert b"4eC39" not in path.read_bytes(), path


@pytest.mark.parametrize(
    ("backend", "code", "words"),
    [
        ("keyring.backends.null.Keyring", "keyring_refused", "keeps no keys"),
        ("keyring.backends.fail.Keyring", "keyring_refused", "keeps no keys"),
        ("evil.Ring", "keyring_refused", "is not allowed"),
    ],
)
def test_a_refused_keyring_is_named(
    svc: Svc, isolated: Path, backend: str, code: str, words: str
) -> None:
    """R33: exit 4 before anything is asked or sent."""
    env = {"PYTHON_KEYRING_BACKEND": backend}
    for argv in (["keys", "add", "--stdin"], ["keys", "remove"], ["orders", "list"]):
        refused = svc(*argv, "--base-url", ELSEWHERE, stdin=CANARY, env=env)
        assert (refused.code, refused.error["code"]) == (4, code)
        assert backend in refused.error["message"]
        assert words in refused.error["message"]


def test_no_keyring_at_all_names_the_variable(svc: Svc, monkeypatch: pytest.MonkeyPatch) -> None:
    """R34: one line, exit 4, SVC_API_KEY named; nothing is written to a file instead."""
    monkeypatch.delenv("PYTHON_KEYRING_BACKEND")
    monkeypatch.setenv("DBUS_SESSION_BUS_ADDRESS", "unix:path=/nowhere")
    failed = svc("orders", "list", "--base-url", ELSEWHERE, "-o", "human")
    assert failed.code == 4
    assert "no usable keyring" in failed.err
    assert "SVC_API_KEY" in failed.err
    assert os.environ["SVC_STATE_DIR"] not in failed.err


def test_a_missing_keyring_is_told_before_the_key_is_asked_for(
    at_terminal: AtTerminal, svc: Svc, sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nobody types a secret for nothing, and the service is not called with it."""
    monkeypatch.delenv("PYTHON_KEYRING_BACKEND")
    monkeypatch.setenv("DBUS_SESSION_BUS_ADDRESS", "unix:path=/nowhere")
    asked = at_terminal(f"{CANARY}\n", "keys", "add")
    assert asked.code == 4, asked.out
    assert "no usable keyring" in asked.out
    assert "API key for" not in asked.out
    piped = svc("keys", "add", "--stdin", stdin=CANARY)
    assert (piped.code, piped.error["code"]) == (4, "keyring_absent")
    assert sandbox.control("GET", "/requests")["data"] == []


@pytest.mark.parametrize("named", ["config", "variable"])
def test_a_key_in_a_keyring_out_of_use_is_not_called_removed(
    svc: Svc, fake_ring: FakeRing, isolated: Path, monkeypatch: pytest.MonkeyPatch, named: str
) -> None:
    """R37: where the keyring that holds it may not be asked any more, it lies there still."""
    add(svc, CANARY, "--no-check", "--base-url", ELSEWHERE)
    config = isolated / "config" / "config.toml"
    config.write_text('keyring_backends = ["other_ring.Keyring"]\n')
    other = isolated / "other"
    other.mkdir()
    code = Path(os.environ["PYTHONPATH"], "fake_file_ring.py").read_text()
    (other / "other_ring.py").write_text(code.replace("FAKE_RING", "OTHER_RING"))
    monkeypatch.setenv("PYTHONPATH", f"{other}{os.pathsep}{os.environ['PYTHONPATH']}")
    monkeypatch.setenv("OTHER_RING", str(isolated / "other.json"))
    if named == "variable":
        monkeypatch.setenv("PYTHON_KEYRING_BACKEND", "other_ring.Keyring")
    refused = svc("keys", "remove", "--base-url", ELSEWHERE)
    assert (refused.code, refused.error["code"]) == (4, "keyring_refused")
    assert "keyring_backends other_ring.Keyring,fake_file_ring.Keyring" in refused.error["message"]
    assert list(fake_ring.items.values()) == [CANARY]
    missing = svc("orders", "list", "--base-url", ELSEWHERE)
    assert (missing.code, missing.error["code"]) == (4, "api_key_missing")
    assert "a keyring that svc may not use now" in missing.error["message"]
    config.write_text('keyring_backends = ["other_ring.Keyring", "fake_file_ring.Keyring"]\n')
    monkeypatch.delenv("PYTHON_KEYRING_BACKEND", raising=False)
    svc.ok("keys", "remove", "--base-url", ELSEWHERE)
    assert fake_ring.items == {}


def test_a_keyring_that_is_gone_lets_its_key_be_forgotten(
    svc: Svc, fake_ring: FakeRing, isolated: Path
) -> None:
    """R37: it is passed over, and what could not be removed is said."""
    add(svc, CANARY, "--no-check", "--base-url", ELSEWHERE)
    facts = KeyFacts(isolated / "state" / "state.db", SystemClock())
    place = KeyPlace(ELSEWHERE, "default", "test")
    facts.remember(place, parse(CANARY, "the test"), "gone_ring.Keyring", checked=False)
    config = isolated / "config" / "config.toml"
    config.write_text('keyring_backends = ["gone_ring.Keyring", "fake_file_ring.Keyring"]\n')
    done = svc("keys", "remove", "--base-url", ELSEWHERE)
    assert (done.code, done.json["removed"]) == (0, True)
    assert "gone_ring.Keyring is not there" in done.err
    assert svc.ok("keys", "list") == []


def test_a_key_comes_from_a_command_and_is_kept_nowhere(
    svc: Svc, sandbox: Sandbox, tmp_path: Path, isolated: Path, fake_ring: FakeRing
) -> None:
    """As from a vault: run without a shell, its first line is the key; `whoami` names the source."""
    made = sandbox.control("POST", "/keys", {"type": "secret"}, key="sk_test_sandbox")
    secret = str(made["secret"])
    vault = tmp_path / "vault"
    vault.write_text('#!/bin/sh\nprintf "%s\\nmore\\n" "$(cat "$1")"\n')
    vault.chmod(0o755)
    key_file = tmp_path / "a key; true"
    key_file.write_text(secret)
    command = shlex.join([str(vault), str(key_file)])
    address = ("--base-url", sandbox.url)
    shop = svc.ok("profiles", "create", "shop", *address, "--key-command", command)
    assert shop["key_command"] == command
    env = {"SVC_BASE_URL": "", "SVC_API_KEY": ""}
    told = svc.ok("whoami", "--profile", "shop", env=env)
    assert (told["key_source"], told["key_accepted"]) == ("key command (profile shop)", True)
    kept = [path for path in isolated.rglob("*") if path.is_file()]
    assert not [path for path in kept if secret.encode() in path.read_bytes()]
    assert fake_ring.items == {}
    # Another address gets none of it: the command is not even run (R22).
    vault.write_text(f"#!/bin/sh\ntouch {tmp_path}/run\n")
    elsewhere = svc("whoami", "--profile", "shop", "--base-url", "https://other.example", env=env)
    assert (elsewhere.code, elsewhere.error["code"]) == (4, "api_key_missing")
    assert not (tmp_path / "run").exists()


@pytest.mark.effect_of("profiles create", "--key-command")
@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("echo 'op: sign in first' >&2; exit 3", "gave no key: op: sign in first."),
        ("exit 3", "gave no key: it ended with 3."),
        ("echo", "gave no key: its first line is empty."),
        (None, "gave no key: its path is to be whole, from /."),
    ],
)
def test_a_key_command_that_fails_says_why(
    svc: Svc, sandbox: Sandbox, tmp_path: Path, fake_ring: FakeRing, body: str | None, said: str
) -> None:
    vault = tmp_path / "vault"
    vault.write_text(f"#!/bin/sh\n{body}\n")
    vault.chmod(0o755)
    command = str(vault) if body else "./vault"
    svc.ok("profiles", "create", "shop", "--base-url", sandbox.url, "--key-command", command)
    env = {"SVC_BASE_URL": "", "SVC_API_KEY": ""}
    failed = svc("orders", "list", "--profile", "shop", env=env)
    assert (failed.code, failed.error["code"]) == (4, "key_command_failed")
    assert said in failed.error["message"]
    assert failed.error["outcome"] == "not_sent"
