"""What listeners and replays print for programs: one document, one record a line, one secret."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from support.listeners import Listen, Pay
from support.listening import PATH, SECRET, TargetServer, delivery, event, status, status_line, talk
from support.running import Sandbox, Svc, inside
from support.suite.patience import until
from svc.paths import Paths

KEY = "sk_live_4fQzN7cPq2LrTxVb9KdYhWm3"


def test_json_is_one_document(pay: Pay, tmp_path: Path) -> None:
    """R72: `-o json`, also the default in a pipe, is one array; its elements come as they happen."""
    out = tmp_path / "out"
    with out.open("wb") as stream:
        process = subprocess.Popen(
            [sys.executable, "-m", "svc", "events", "listen", "--until", "order.paid"],
            stdout=stream,
            stderr=subprocess.DEVNULL,
        )
        until(lambda: "ready" in out.read_text())
        pay()
        assert process.wait() == 0
    kinds = [record["record"] for record in json.loads(out.read_text())]
    assert (kinds[0], kinds[-1]) == ("ready", "summary")
    assert "event" in kinds


def test_json_is_whole_after_a_signal(sandbox: Sandbox, tmp_path: Path, listen: Listen) -> None:
    """R72, R78: Ctrl-C ends the document too."""
    with listen(tmp_path, "-o", "json", ready=False) as running:
        running.until(lambda: "ready" in running.text)
        assert running.end(signal.SIGTERM) == 143
        assert [one["record"] for one in json.loads(running.text)] == ["ready", "summary"]


DEBUG_PAGE = f"""<title>KeyError: {KEY}</title>
::stop-commands::x
<pre>SVC_API_KEY={KEY} SVC_WEBHOOK_SECRET={SECRET} ##[group]x</pre>""".encode()


@pytest.mark.parametrize("form", ["human", "ndjson"])
def test_a_debug_page_of_a_target_shows_no_secret_and_commands_nothing(
    form: str, sandbox: Sandbox, svc: Svc, tmp_path: Path, listen: Listen
) -> None:
    """R126, R39, R107: it prints a live key and our secret: not on, not kept, in no state file."""
    page = b"HTTP/1.1 500 No\r\nContent-Length: %d\r\n\r\n%s" % (len(DEBUG_PAGE), DEBUG_PAGE)
    env, ready = {"SVC_WEBHOOK_SECRET": SECRET, "GITHUB_ACTIONS": "true"}, tmp_path / "ready"
    with TargetServer(lambda _: page) as target:
        argv = ("-o", form, "--forward-to", str(target.port), "--ready-file", str(ready))
        with listen(tmp_path, *argv, env=env, ready=False) as running:
            running.until(lambda: ready.exists() and ready.read_text().endswith("\n"))
            url = urlsplit(json.loads(ready.read_text())["url"])
            sent = delivery(event(), now=int(time.time()))
            sent = sent.replace(PATH.encode(), url.path.encode(), 1)
            assert status(talk(url.port or 0, sent)) == 200
            running.until(lambda: "KeyError" in running.text)
            running.end()
            said = running.text
    shown = [
        svc("events", "inbox", "show", "evt_1", "-o", one, env=env) for one in ("human", "json")
    ]
    files = b"".join(one.read_bytes() for one in Paths(os.environ).state_dir.glob("state.db*"))
    for text in (said, *(one.out + one.err for one in shown), files.decode("latin-1")):
        assert "KeyError" in text
        assert KEY not in text
        assert SECRET not in text
    for text in (said, *(one.out for one in shown)):
        assert not re.search(r"(?m)^\s*::stop-commands::|##\[group", text)


def test_secret_is_bare_unless_a_format_is_asked_for(sandbox: Sandbox, svc: Svc) -> None:
    """`--print-secret`: a line for `$(...)`; with `-o json` one document, which `--query` reads."""
    bare = svc("events", "listen", "--print-secret").out
    shown = svc.ok("events", "listen", "--print-secret", "-o", "json")
    [endpoint] = sandbox.control("GET", "/webhook_endpoints")["data"]
    assert shown == {
        "object": "signing_secrets",
        "endpoint": endpoint["id"],
        "secrets": [bare.strip()],
    }
    queried = svc.ok("events", "listen", "--print-secret", "-o", "json", "--query", "secrets[0]")
    assert queried == bare.strip()


def test_replay_prints_one_document(pay: Pay, svc: Svc, tmp_path: Path, listen: Listen) -> None:
    """R72: an array of forwards, an empty one where nothing was to be sent."""
    assert svc.ok("events", "replay", "--failed") == []
    with TargetServer(lambda _: status_line(500)) as target:
        with listen(tmp_path, "--forward-to", str(target.port), "--retry", "off") as running:
            pay()
            running.wait("forward", 2)
            running.end()
        result = svc("events", "replay", "--failed")
        assert (result.code, [one["status"] for one in result.json]) == (11, [500, 500])
        assert result.error["code"] == "replay_failed"
    assert svc("events", "replay", "evt_nowhere").code == 5


@pytest.mark.parametrize("words", [("listen",), ("replay", "evt_1")])
def test_name_that_leads_elsewhere_is_refused_at_the_start(
    words: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    """R53: exit 2 before anything is opened, for a name of another machine or an unknown one."""
    addresses = {"shop.example": "93.184.216.34", "here.example": "127.0.0.1"}
    addresses["metadata.example"] = "169.254.169.254"

    def look_up(host: str, port: int, **_: object) -> list[tuple[object, ...]]:
        if host not in addresses:
            raise OSError("no such name")
        return [(2, 1, 6, "", (addresses[host], port))]

    monkeypatch.setattr("socket.getaddrinfo", look_up)
    monkeypatch.setenv("SVC_BASE_URL", "http://127.0.0.1:9")
    monkeypatch.setenv("SVC_API_KEY", "sk_test_sandbox")
    monkeypatch.setenv("SVC_MAX_TIME", "0.2")
    for host, reason in (("shop.example", "93.184.216.34"), ("nowhere.example", "not known")):
        result = inside("events", *words, "--forward-to", f"http://{host}/hooks", "-o", "json")
        assert (result.code, result.error["param"]) == (2, "--forward-to")
        assert reason in result.error["message"]
        assert "--allow-remote-forward" in result.error["message"]
    remote = ("--forward-to", "http://metadata.example/", "--allow-remote-forward")
    never = inside("events", *words, *remote, "-o", "json")
    assert (never.code, never.error["param"]) == (2, "--forward-to")
    assert "leads to 169.254.169.254, which must never be reached." in never.error["message"]
    assert "add --allow-remote-forward" not in never.error["message"]
    allowed = inside("events", *words, "--forward-to", "http://here.example/hooks", "-o", "json")
    assert allowed.code in (5, 8)  # on it goes, to find no such event or no sandbox


@pytest.mark.effect_of("events inbox", "--where")
@pytest.mark.effect_of("events listen", "--where")
@pytest.mark.effect_of("events tail", "--timeout", "--where")
def test_where_chooses_what_is_shown_and_forwarded(
    pay: Pay, svc: Svc, tmp_path: Path, listen: Listen
) -> None:
    """Others are kept and left alone, by `tail` too, which forwards nothing."""
    where = ("--where", "type == 'order.paid' && data.object.amount > `10000`")
    with TargetServer() as target:
        with listen(tmp_path, *where, "--forward-to", str(target.port)) as it:
            pay()
            it.wait("forward", 1)
            it.end()
        assert [json.loads(one.body)["type"] for one in target.received] == ["order.paid"]
    assert [one["type"] for one in it.records if one["record"] == "event"] == ["order.paid"]
    kept = {one["type"]: one["state"] for one in svc.ok("events", "inbox")}
    assert kept == {"order.paid": "forwarded", "payment.captured": "kept"}
    shown = svc("events", "tail", *where, "-o", "ndjson", "--timeout", "0.1")
    kinds = [json.loads(line)["record"] for line in shown.out.splitlines()]
    assert (shown.code, kinds) == (0, ["ready", "summary"])
