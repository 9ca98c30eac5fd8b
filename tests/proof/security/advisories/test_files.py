"""What other tools got wrong about printing, files and programs; a test an advisory."""

import json
import os
import sys
from pathlib import Path

import pytest

from support.orders import CREATE_ORDER
from support.running import Sandbox, Svc, run_to_end
from support.servers.misbehaving import ScriptedServer
from svc.cli.quickstart import SvcProcesses
from svc.clock import SystemClock


def test_cve_2024_52308_no_text_of_the_service_becomes_a_command(
    svc: Svc, sandbox: Sandbox, tmp_path: Path
) -> None:
    """What gh took for connection details ran as a command; a shown curl line is quoted whole."""
    mark = tmp_path / "pwned"
    evil = f"$(touch {mark});`touch {mark}`'\"; touch {mark} #"
    shown = svc(*CREATE_ORDER, "-d", f"metadata[note]={evil}", "--curl", "-o", "human")
    assert shown.code == 0
    env = {**os.environ, "SVC_API_KEY": "sk_test_sandbox"}
    done = run_to_end(["bash", "-c", shown.out], env=env)
    assert json.loads(done.stdout)["metadata"]["note"] == evil
    assert not mark.exists()


@pytest.mark.parametrize("name", ["../evil", "..", "/tmp/evil", "a/../../evil"])
def test_ghsa_2m9h_r57g_45pj_no_name_leads_out_of_the_folder(
    svc: Svc, sandbox: Sandbox, tmp_path: Path, name: str
) -> None:
    """An artifact called `..` wrote a level up in gh; a batch's name writes no file (R65)."""
    folder = tmp_path / "inner"
    folder.mkdir()
    rows = folder / "orders.csv"
    head = "amount,currency,shipping[country],items[0][name],items[0][hs_code]"
    rows.write_text(
        f"{head},items[0][quantity],items[0][unit_amount]\n12900,EUR,DE,J,6203.39,1,12900\n"
    )
    before = set(tmp_path.rglob("*"))
    assert svc("batch", "orders.create", str(rows), "--import", name).code == 0
    after = set(tmp_path.rglob("*"))
    assert after > before  # the results
    assert {path.parent for path in after - before} <= {folder}


def test_cve_2022_24753_no_file_of_the_current_folder_says_key_or_address(
    svc: Svc,
    sandbox: Sandbox,
    hostile: ScriptedServer,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Whoever runs a command in somebody else's project sends nothing there (R43)."""
    monkeypatch.delenv("SVC_API_KEY")
    monkeypatch.delenv("SVC_BASE_URL")
    (tmp_path / ".env").write_text(
        f"SVC_API_KEY=sk_test_4eC39HqLyjWDarjtT1zdp7dc\nSVC_BASE_URL={hostile.url}\n"
    )
    profile = f'active_profile = "x"\n[profiles.x]\nbase_url = "{hostile.url}"\n'
    for name in ("config.toml", "svc.toml", ".svc.toml", "pyproject.toml"):
        (tmp_path / name).write_text(profile)
    monkeypatch.chdir(tmp_path)
    refused = svc("orders", "list")
    assert (refused.code, refused.error["code"]) == (2, "base_url_missing")
    refused = svc("orders", "list", "--base-url", sandbox.url)
    assert (refused.code, refused.error["code"]) == (4, "keyring_refused")
    assert hostile.connections == 0


def test_ghsa_fqfh_778m_2v32_no_module_of_the_current_folder_is_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Python looks in the current folder first; the parts of `svc quickstart` must not (R43)."""
    folder, mark = tmp_path / "planted", tmp_path / "was-run"
    (folder / "svc").mkdir(parents=True)
    for name in ("svc/__init__.py", "svc/__main__.py", "typer.py"):
        (folder / name).write_text(f"open({str(mark)!r}, 'w')\n")
    monkeypatch.chdir(folder)
    assert SvcProcesses(os.environ, SystemClock()).run("keys", "list") == []
    assert not mark.exists()


@pytest.mark.parametrize("identifier", ["../../admin", "..", "a/b", "a%2fb", "ord_1?x", "ord_1#"])
def test_ghsa_fv4g_gwpj_74gr_no_id_leads_out_of_the_api(
    svc: Svc, hostile: ScriptedServer, monkeypatch: pytest.MonkeyPatch, identifier: str
) -> None:
    """A plugin's name with dots overwrote files of stripe-cli; an id has no such marks (R25)."""
    monkeypatch.setenv("SVC_BASE_URL", hostile.url)
    monkeypatch.setenv("SVC_API_KEY", "sk_test_sandbox")
    assert svc("orders", "retrieve", identifier).code == 2
    assert hostile.connections == 0


def test_cve_2019_10751_no_answer_names_a_file(
    svc: Svc, hostile: ScriptedServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A redirect chose the name of httpie's output file; no answer makes a file here (R65)."""
    monkeypatch.setenv("SVC_BASE_URL", hostile.url)
    monkeypatch.setenv("SVC_API_KEY", "sk_test_sandbox")
    monkeypatch.chdir(tmp_path)
    named = {"Content-Disposition": 'attachment; filename="evil.sh"', "Location": "/evil.sh"}
    hostile.play(hostile.reply(302, b"", named))
    svc("orders", "retrieve", "ord_1")
    hostile.play(hostile.reply(200, {"id": "ord_1", "object": "order"}, named))
    svc("orders", "retrieve", "ord_1")
    assert [request.startswith(b"GET /v1/orders/ord_1 ") for request in hostile.requests] == [
        True,
        True,
    ]
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("value", ["x\r", "x\r\n", "x\n", " x ", "x\\", '"x"', "#x", "[x]", "é"])
def test_cve_2025_48384_a_written_setting_is_read_back_as_it_was(svc: Svc, value: str) -> None:
    """Git lost a CR at the end of a value; here it comes back exactly, or is refused."""
    svc.ok("profiles", "create", "shop", "--base-url", "https://api.example.com")
    result = svc("config", "set", "profiles.shop.ca_bundle", value)
    if result.code == 0:
        shown = svc.ok("config", "get", "profiles.shop.ca_bundle")
        assert shown == value or shown.endswith(f"/{value}")
    else:
        assert result.code == 2
    assert svc("profiles", "list").code == 0


def test_rich_2408_no_traceback_shows_a_value(
    svc: Svc, sandbox: Sandbox, isolated: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Typer and rich printed local variables, keys among them; a crash is one line (R41, R79)."""
    monkeypatch.setenv("SVC_API_KEY", "sk_test_canary7Qx2Lw9Zp4")
    crash = (
        "import sys, svc.client.client as c\n"
        "def broken(self, call, request, *more):\n"
        "    headers, shown = request.headers, 'of' + '-a-variable'\n"
        "    return 1 / 0\n"
        "c.Client._attempt = broken\n"
        "from svc.__main__ import main\n"
        "sys.argv = ['svc', 'orders', 'retrieve', 'ord_1']\n"
        "main()\n"
    )
    done = run_to_end([sys.executable, "-c", crash])
    assert done.returncode == 1
    assert "Traceback" not in done.stderr
    assert len(done.stderr.splitlines()) <= 4
    kept = [path.read_text(errors="replace") for path in isolated.rglob("*") if path.is_file()]
    assert any("ZeroDivisionError" in text for text in kept)  # the report
    said = [*kept, done.stderr, done.stdout]
    assert not any(word in text for text in said for word in ("canary", "of-a-variable"))
