"""`svc doctor`: what it finds on this machine and at the service, and what it says to do."""

import json
import os
import re
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from support.orders import CREATE_ORDER
from support.ring_file import FakeRing
from support.running import Sandbox, Svc
from support.servers.accepting import OneByOne


def checks(text: str) -> dict[str, dict[str, Any]]:
    """The findings by name."""
    return {each["name"]: each for each in json.loads(text)}


def verdicts(text: str) -> dict[str, str]:
    return {name: each["status"] for name, each in checks(text).items()}


@contextmanager
def answering(head: str, keyed: str | None = None) -> Iterator[str]:
    """A server that answers with the same bytes, `keyed` to a key; gives its address."""

    def answer(peer: socket.socket) -> None:
        asked = peer.recv(65536)
        peer.sendall((keyed if keyed and b"Authorization" in asked else head).encode())

    with OneByOne(answer) as server:
        yield f"http://127.0.0.1:{server.port}"


def test_everything_in_order_is_said_and_ends_with_0(svc: Svc, sandbox: Sandbox) -> None:
    """Each check has its line; what is not needed here does not fail."""
    result = svc("doctor", "-o", "json")
    found = verdicts(result.out)
    assert result.code == 0, result.err
    assert [found[name] for name in ("configuration", "key", "service", "clock", "state")] == [
        "ok"
    ] * 5
    assert found["key accepted"] == "ok"
    assert found["keyring"] == "warning"  # the tests have none, and SVC_API_KEY is set


def test_a_fresh_machine_is_told_once_what_is_missing(svc: Svc) -> None:
    """Without an address there is one failure and its remedy, not the same words for the key."""
    found = checks(svc("doctor", "-o", "json").out)
    assert found["key"]["status"] == "skipped"
    assert found["service"]["status"] == "failed"
    assert "svc sandbox start" in found["service"]["fix"]


def test_a_service_that_is_away_is_a_failure_with_a_remedy(
    svc: Svc, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A check that fails ends the command with 11, and the other checks are made all the same."""
    monkeypatch.setenv("SVC_BASE_URL", "http://127.0.0.1:1")
    monkeypatch.setenv("SVC_API_KEY", "sk_test_sandbox")
    result = svc("doctor", "-o", "json")
    found = checks(result.out)
    assert (result.code, result.error["code"]) == (11, "doctor_failed")
    assert found["service"]["status"] == "failed"
    assert "no connection" in found["service"]["detail"]
    assert found["service"]["fix"]
    assert found["state"]["status"] == "ok"


def test_another_program_at_the_address_is_told_from_the_service(
    svc: Svc, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A web server that knows no keys does not pass for the API, and no key is sent to it."""
    with answering("HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n") as url:
        monkeypatch.setenv("SVC_BASE_URL", url)
        monkeypatch.setenv("SVC_API_KEY", "sk_test_sandbox")
        found = checks(svc("doctor", "-o", "json").out)
    assert found["service"]["status"] == "failed"
    assert "404" in found["service"]["detail"]
    assert "key accepted" not in found


def test_a_refused_key_is_a_failure_that_names_the_command(
    svc: Svc, sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The key itself is never shown beyond its last four characters."""
    monkeypatch.setenv("SVC_API_KEY", "sk_test_0123456789abcdefWXYZ")
    result = svc("doctor", "-o", "json")
    found = checks(result.out)
    assert result.code == 11
    assert found["key accepted"]["status"] == "failed"
    assert "Set SVC_API_KEY to a key of this account" in found["key accepted"]["fix"]
    assert "svc keys add" in found["key accepted"]["fix"]
    assert "0123456789" not in result.out + result.err


def test_a_service_that_fails_with_a_key_hides_no_other_finding(
    svc: Svc, monkeypatch: pytest.MonkeyPatch
) -> None:
    """That it was reached and what its clock says are known, whatever it says to the key."""
    end = (
        "X\r\nDate: Sat, 21 Nov 2020 12:00:00 GMT\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
    )
    with answering(f"HTTP/1.1 401 {end}", f"HTTP/1.1 400 {end}") as url:
        monkeypatch.setenv("SVC_BASE_URL", url)
        monkeypatch.setenv("SVC_API_KEY", "sk_test_0123456789abcdefWXYZ")
        found = checks(svc("doctor", "-o", "json").out)
    assert [found[name]["status"] for name in ("service", "clock", "key accepted")] == [
        "ok",
        "failed",
        "failed",
    ]
    assert found["key accepted"]["fix"]


@pytest.mark.parametrize(
    ("item", "verdict", "code"),
    [
        ("{}", "ok", 0),
        ('{"id": ["ord_1"]}', "ok", 0),
        ('{"id": "../v2"}', "ok", 0),
        ('{"id": "ord_1", "livemode": true}', "failed", 1),
    ],
)
def test_an_odd_answer_is_no_bug_of_ours(
    svc: Svc, monkeypatch: pytest.MonkeyPatch, item: str, verdict: str, code: int
) -> None:
    """Of an order without a usable id, or of the other mode, all that is known is told."""
    body = f'{{"object": "list", "data": [{item}], "has_more": false}}'
    end = f"X\r\nContent-Length: {len(body)}\r\nConnection: close\r\n\r\n{body}"
    with answering(f"HTTP/1.1 401 {end}", f"HTTP/1.1 200 {end}") as url:
        monkeypatch.setenv("SVC_BASE_URL", url)
        monkeypatch.setenv("SVC_API_KEY", "sk_test_0123456789abcdefWXYZ")
        found = verdicts(svc("doctor", "-o", "json").out)
        told = svc("whoami", "-o", "json")
    assert found["key accepted"] == verdict
    assert (told.code, told.json["reachable"]) == (code, True)


def test_a_missing_key_is_a_failure_and_the_service_is_still_asked(
    svc: Svc, sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("SVC_API_KEY")
    result = svc("doctor", "-o", "json")
    found = verdicts(result.out)
    assert (result.code, found["key"], found["service"]) == (11, "failed", "ok")


def test_an_old_completion_script_is_noticed(
    svc: Svc, sandbox: Sandbox, isolated: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What `svc completion --install` wrote once does not follow an upgrade by itself."""
    monkeypatch.setenv("SHELL", "/usr/bin/fish")
    assert verdicts(svc("doctor", "-o", "json").out)["completion"] == "skipped"
    assert svc("completion", "fish", "--install").code == 0
    assert verdicts(svc("doctor", "-o", "json").out)["completion"] == "ok"
    script = isolated / ".config" / "fish" / "completions" / "svc.fish"
    script.write_text(script.read_text() + "# older\n")
    found = checks(svc("doctor", "-o", "json").out)["completion"]
    assert (found["status"], found["fix"].rpartition(": ")[2]) == (
        "warning",
        "svc completion fish --install",
    )


@pytest.mark.parametrize(
    ("argv", "env", "name"),
    [
        (["--ca-bundle", "/nowhere"], {}, "configuration"),
        (["--base-url", "https://127.0.0.1:9"], {"SVC_CA_BUNDLE": __file__}, "service"),
        (["--base-url", "https://a.invalid"], {"SVC_PROXY": "socks5://x:1"}, "service"),
        ([], {"SVC_STATE_DIR": "/dev/null/state"}, "state"),
        ([], {"SVC_CONFIG_DIR": "/dev/null"}, "configuration"),
        ([], {"SVC_API_KEY": "sk_test_a b"}, "key"),
        (["--base-url", "http://api.example.com"], {"SVC_API_KEY": "sk_test_mine"}, "key"),
    ],
)
def test_whatever_fails_has_a_remedy(
    svc: Svc, sandbox: Sandbox, argv: list[str], env: dict[str, str], name: str
) -> None:
    """Every finding says what to do, also where the error behind it does not."""
    result = svc("doctor", "-o", "json", "--max-time", "1", *argv, env=env)
    assert result.code == 11
    wrong = {key: each for key, each in checks(result.out).items() if each["status"] == "failed"}
    assert name in wrong
    assert all(each["fix"] for each in wrong.values())


def test_a_configuration_that_others_may_write_is_a_finding(svc: Svc, isolated: Path) -> None:
    """R104: no command believes it, and the check-up says how to mend that."""
    folder = isolated / "config"
    folder.mkdir()
    (folder / "config.toml").write_text("cache = false\n")
    folder.chmod(0o777)
    result = svc("doctor", "-o", "json")
    assert result.code == 11
    assert checks(result.out)["configuration"]["fix"] == f"Run: chmod 700 '{folder}'"
    assert svc("config", "path").out == f"{folder / 'config.toml'}\n"
    assert svc("config", "get").code == 10


def test_an_unresolved_request_is_pointed_at(svc: Svc, sandbox: Sandbox) -> None:
    """Money whose fate nobody knows is what a check-up must not pass over."""
    rule = {"match": {"path": "/v1/orders"}, "phase": "after", "times": 9}
    sandbox.control("POST", "/faults", {**rule, "effect": {"connection": "close"}})
    assert svc(*CREATE_ORDER, "--max-time", "2").code == 7
    sandbox.control("DELETE", "/faults")
    found = checks(svc("doctor", "-o", "json").out)
    assert found["state"]["status"] == "warning"
    assert found["state"]["fix"].endswith("svc requests list --unresolved")


def test_a_broken_configuration_is_a_finding(svc: Svc, sandbox: Sandbox, isolated: Path) -> None:
    """It names the file and the line; no traceback, and nothing is changed."""
    path = isolated / "config" / "config.toml"
    path.parent.mkdir(mode=0o700, parents=True)
    path.write_text("active_profile = \n")
    path.chmod(0o600)
    result = svc("doctor", "-o", "json")
    assert result.code == 11
    assert "config.toml" in checks(result.out)["configuration"]["detail"]
    assert path.read_text() == "active_profile = \n"


@pytest.mark.parametrize("columns", [40, 80])
def test_what_a_person_reads_fits_the_screen(
    svc: Svc, sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch, columns: int
) -> None:
    """Beside the name where there is room, else below it; the verdict is a word, not a colour."""
    monkeypatch.setenv("COLUMNS", str(columns))
    result = svc("doctor", "-o", "human")
    assert result.out.startswith("ok ")
    commands = ("svc ", str(Path.home()))
    for line in result.out.splitlines():
        assert len(line) <= columns or any(word in line for word in commands), line


def test_a_proxy_that_cannot_be_reached_is_named(svc: Svc) -> None:
    """In the error, and in what `whoami` prints beside it; its password nowhere."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # nothing listens there
        place = f"127.0.0.1:{taken.getsockname()[1]}"
        env = {
            "SVC_BASE_URL": "https://api.example.com",
            "SVC_API_KEY": "sk_test_4eC39HqLyjWDarjtT1zdp7dc",
            "HTTPS_PROXY": f"http://me:hidden@{place}",
        }
        refused = svc("whoami", "--max-time", "9", env=env)
    assert (refused.code, refused.json["proxy"], refused.json["reachable"]) == (8, place, False)
    message = refused.error["message"]
    assert f"the proxy cannot be reached ({place}: connection refused)" in message.lower()
    assert "SVC_PROXY, HTTPS_PROXY" in message
    assert "hidden" not in refused.out + refused.err


@pytest.mark.parametrize("command", ["whoami", "doctor"])
def test_a_proxy_that_wants_a_password_is_told_how_it_is_given(svc: Svc, command: str) -> None:
    """What is to be filled in is no secret: the line is shown whole."""

    def refuse(peer: socket.socket) -> None:
        peer.recv(65536)
        peer.sendall(b"HTTP/1.1 407 Proxy Authentication Required\r\nContent-Length: 0\r\n\r\n")

    with OneByOne(refuse) as proxy:
        env = {
            "SVC_BASE_URL": "https://api.example.com",
            "SVC_API_KEY": "sk_test_4eC39HqLyjWDarjtT1zdp7dc",
            "SVC_PROXY": f"http://127.0.0.1:{proxy.port}",
        }
        refused = svc(command, "-o", "human", env=env)
    said = " ".join((refused.out + refused.err).split())
    assert "the proxy wants a user and a password" in said
    assert f"127.0.0.1:{proxy.port} answered 407" in said
    assert "SVC_PROXY=http://USER:PASSWORD@HOST:PORT" in said


@pytest.mark.effect_of("doctor", "--report")
def test_a_report_of_a_bug_has_all_but_secrets(
    svc: Svc, sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Versions, checks and the names of what is set; exit 0 whatever the checks say."""
    secret = "sk_test_4eC39HqLyjWDarjtT1zdp7dc"
    monkeypatch.setenv("SVC_API_KEY", secret)
    monkeypatch.setenv("SVC_PROXY", "http://me:hidden@proxy.example:3128")
    svc.ok("profiles", "create", "shop", "--base-url", "https://secret.example", "--proxy", "x:1")
    report = svc("doctor", "--report")
    assert report.code == 0
    assert report.json["svc"] == svc("--version").out.split()[1]
    assert "SVC_API_KEY" in report.json["variables"]
    assert "profiles.shop.proxy" in report.json["settings"]
    assert "profiles.shop.limits" not in report.json["settings"]
    assert {"httpx", "typer"} <= set(report.json["libraries"])
    assert "service" in {each["name"] for each in report.json["checks"]}
    shown = svc("doctor", "--report", "-o", "human")
    assert re.search("^ok +state +", shown.out, re.MULTILINE)
    assert "Attach this where you have svc from" in shown.err
    assert not {secret, "hidden"} & set(re.findall(r"\w+", report.out + shown.out))
    assert "svc doctor --report" in svc("help", "changes").out


def test_a_report_names_the_last_five_of_bugs(svc: Svc, isolated: Path) -> None:
    """Also where the settings cannot be read, which it names none of then."""
    reports = isolated / "state" / "reports"
    reports.mkdir(parents=True)
    names = [reports / f"report-{number}.txt" for number in (6, 5, 4, 3, 2, 1)]
    for moment, path in enumerate(names):
        path.touch()
        os.utime(path, (moment, moment))
    (isolated / "config").mkdir(mode=0o700)
    (isolated / "config" / "config.toml").write_text("active_profile = \n")
    told = svc("doctor", "--report", "-o", "json").json
    assert (told["bug_reports"], told["settings"]) == ([str(path) for path in names[1:]], [])
    assert "profiles" not in svc("doctor", "--report", "-o", "human").out.casefold()


@pytest.mark.parametrize("given", ["-o", "--output"])
def test_id_of_a_check_is_its_name(svc: Svc, given: str) -> None:
    named = svc("doctor", given, "id").out.splitlines()
    assert {"configuration", "service", "state", "tunnels"} <= set(named)
    assert named == list(checks(svc("doctor", "-o", "json").out))


def test_a_key_of_the_environment_that_hides_another_is_told(svc: Svc, fake_ring: FakeRing) -> None:
    """Beside the keyring that answers; a stored key that is refused is to be stored anew."""
    env = {"SVC_BASE_URL": "http://127.0.0.1:9"}
    svc.ok(
        "keys", "add", "--stdin", "--no-check", stdin="sk_test_4eC39HqLyjWDarjtT1zdp7dc", env=env
    )
    env["SVC_API_KEY"] = "sk_test_0123456789abcdefWXYZ"
    found = checks(svc("doctor", "-o", "json", "--max-time", "1", env=env).out)
    assert found["keyring"]["status"] == "ok"
    assert found["keyring"]["detail"].endswith(" answers")
    assert (found["key"]["status"], found["key"]["fix"]) == (
        "warning",
        "Unset SVC_API_KEY to use the stored key",
    )
    assert "not the stored key sk_test_…p7dc of this profile" in found["key"]["detail"]


def test_a_stored_key_that_is_refused_is_to_be_stored_anew(
    svc: Svc, sandbox: Sandbox, fake_ring: FakeRing
) -> None:
    svc.ok("keys", "add", "--stdin", "--no-check", stdin="sk_test_4eC39HqLyjWDarjtT1zdp7dc")
    ended = svc("whoami", "-o", "human", env={"SVC_API_KEY": ""})
    assert ended.code == 4
    fix = "Store a key of this account: svc keys add --profile default; or set SVC_API_KEY"
    assert fix in " ".join(ended.err.split())
