"""`svc events listen --run`: a command in place of a web server, in the words of a user."""

import shlex
from pathlib import Path

import pytest

from support.listeners import Listen, Pay
from support.running import Sandbox, Svc


@pytest.mark.effect_of("events listen", "--run", "--run-timeout")
def test_command_is_a_target_like_any_other(
    pay: Pay, svc: Svc, tmp_path: Path, listen: Listen
) -> None:
    """What a run did not take is pending, with words; a replay runs the command again."""
    script = tmp_path / "my shop" / "fulfil.sh"
    script.parent.mkdir()
    script.write_text("#!/bin/sh\nsleep 9\n")
    refused = svc("events", "listen", "--run", f"order.paid={shlex.quote(str(script))}")
    assert (refused.code, refused.error["param"]) == (2, "--run")
    assert "is not executable" in refused.error["message"]
    script.chmod(0o755)
    target = f"run:'{script}' slowly"
    words = ("--run", f"order.paid={target[4:]}", "--run-timeout", "0.3")
    with listen(tmp_path, *words) as it:
        order = pay()
        [failed] = it.wait("forward", 1)
        it.end()
    assert (failed["url"], failed["status"]) == (target, None)
    assert (failed["error"], failed["retry_in"]) == ("ended after 0.3 s", 2.0)
    [kept] = [one for one in svc.ok("events", "inbox") if one["type"] == "order.paid"]
    assert (kept["state"], kept["target"]) == ("pending", target)
    got = tmp_path / "got"
    script.write_text(f"#!/bin/sh\ncat > {shlex.quote(str(got))}\ntest $1 = slowly\n")
    [sent] = svc.ok("events", "replay", kept["id"])
    assert (sent["url"], sent["status"]) == (target, 200)
    assert order in got.read_text()
    [kept] = [one for one in svc.ok("events", "inbox") if one["type"] == "order.paid"]
    assert kept["state"] == "forwarded"


def test_the_first_lines_say_what_is_run_for_which_types(svc: Svc, sandbox: Sandbox) -> None:
    """Of 18 types that come, those of one go to the command; where all go, one line says so."""
    words = ("events", "listen", "-o", "human", "--timeout", "0")
    some = svc(*words, "--run", "order.paid=true").out
    assert some.startswith("Ready. Receiving 18 event types of test mode")
    assert "\n  order.paid to run:true\n" in some
    whole = svc(*words, "--run", "*=true").out
    assert whole.startswith("Ready. Forwarding 18 event types of test mode to run:true")
