"""Errors and reports repeat no secret, whoever wrote it into them (promises R39, R41)."""

import os
import sys
from base64 import b64encode
from pathlib import Path

import pytest

from support.running import Sandbox, Svc, run_to_end
from support.servers.misbehaving import ScriptedServer

# Not the key in use, which is looked for as it is: these are known by their looks alone.
SECRETS = (
    "rk_live_canary7Qx2Lw9Zp4",
    "whsec_canary7Qx2Lw9Zp4",
    "ord_3kPq0aVb7c_secret_canary7Qx2Lw9Zp4",
    "Bearer canary7Qx2Lw9Zp4",
    "https://ada:canary7Qx2Lw9Zp4@api.example.com",
    b64encode(b"sk_live_canary7Qx2Lw9Zp4:").decode(),
)
ENCODED = b64encode(b"sk_live_canary7Qx2").decode()[:20]


@pytest.mark.parametrize("secret", SECRETS)
@pytest.mark.parametrize("form", ["human", "json"])
def test_no_field_of_an_error_repeats_a_secret(
    svc: Svc, hostile: ScriptedServer, monkeypatch: pytest.MonkeyPatch, secret: str, form: str
) -> None:
    """R39: type, code, message, parameter and request id are the service's words, all of them."""
    monkeypatch.setenv("SVC_BASE_URL", hostile.url)
    monkeypatch.setenv("SVC_API_KEY", "sk_test_4eC39HqLyjWDarjtT1zdp7dc")
    words = dict.fromkeys(("type", "code", "message", "param"), f"it is {secret} here")
    hostile.play(hostile.reply(400, {"error": words}, {"Request-Id": secret}))
    refused = svc("orders", "list", "-o", form, "--verbose")
    assert refused.code == 3
    assert "it is" in refused.err
    assert "canary7" not in refused.err
    assert ENCODED not in refused.err


def test_a_report_of_a_bug_repeats_no_secret(svc: Svc, sandbox: Sandbox, isolated: Path) -> None:
    """R41: an error that nobody expected may have anything in its words."""
    script = (
        "import sys, svc.cli.main as m\n"
        "def broken(session): raise RuntimeError(sys.argv)\n"
        "m._invoke = broken\n"
        "from svc.__main__ import main\n"
        "main()\n"
    )
    done = run_to_end([sys.executable, "-c", script, *SECRETS], env=os.environ)
    assert done.returncode == 1
    (report,) = (isolated / "state" / "reports").iterdir()
    assert "RuntimeError" in report.read_text()
    assert report.stat().st_mode & 0o777 == 0o600
    for text in (done.stdout, done.stderr, report.read_text()):
        assert "canary7" not in text
        assert ENCODED not in text
