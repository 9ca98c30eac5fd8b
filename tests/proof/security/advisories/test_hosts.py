"""What other tools got wrong about hosts and secrets; a test an advisory, named after it."""

import ssl
from pathlib import Path

import pytest

from support.absence import files_in
from support.running import Sandbox, Svc
from support.servers.misbehaving import ScriptedServer

ORDER = {"id": "ord_1", "object": "order", "livemode": False}


def keep_key(svc: Svc, base_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Stores a key for one origin and leaves none in the environment."""
    svc.ok("profiles", "create", "shop", "--base-url", base_url)
    svc.ok("keys", "add", "--stdin", "--no-check", stdin="sk_test_canary7Qx2Lw9Zp4\n")
    monkeypatch.delenv("SVC_API_KEY", raising=False)


@pytest.mark.parametrize("way", ["option", "environment", "configuration"])
def test_cve_2024_53858_cve_2024_53859_a_key_goes_to_no_other_host(
    svc: Svc,
    hostile: ScriptedServer,
    elsewhere: ScriptedServer,
    gnome_keyring: None,
    monkeypatch: pytest.MonkeyPatch,
    way: str,
) -> None:
    """Gh and go-gh gave tokens to other hosts; a stored key is bound to its origin (R22)."""
    hostile.play(hostile.reply(200, ORDER))
    keep_key(svc, hostile.url, monkeypatch)
    argv = ["orders", "retrieve", "ord_1"]
    assert svc(*argv).code == 0
    if way == "option":
        argv += ["--base-url", elsewhere.url]
    elif way == "environment":
        monkeypatch.setenv("SVC_BASE_URL", elsewhere.url)
    else:
        svc.ok("config", "set", "profiles.shop.base_url", elsewhere.url)
    result = svc(*argv)
    assert result.code == 4
    assert "was added for" in result.error["message"]
    assert elsewhere.connections == 0


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_cve_2018_1000007_no_credentials_follow_a_redirect(
    svc: Svc,
    hostile: ScriptedServer,
    elsewhere: ScriptedServer,
    monkeypatch: pytest.MonkeyPatch,
    status: int,
) -> None:
    """Curl sent Authorization to the host of a redirect; here none is followed (R24)."""
    hostile.play(hostile.reply(status, b"", {"Location": f"{elsewhere.url}/v1/orders"}))
    monkeypatch.setenv("SVC_BASE_URL", hostile.url)
    monkeypatch.setenv("SVC_API_KEY", "sk_test_sandbox")
    result = svc("orders", "retrieve", "ord_1")
    assert result.code == 8
    assert elsewhere.url in result.error["message"]
    assert elsewhere.connections == 0


def test_cve_2022_24737_cve_2026_63481_cookies_are_not_kept(
    svc: Svc, hostile: ScriptedServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Httpie and hurl gave cookies to other hosts; here no cookie is ever sent back (R29)."""
    cookie = {"Set-Cookie": "session=stolen; Path=/"}
    first = {"object": "list", "data": [ORDER], "has_more": True}
    last = {"object": "list", "data": [ORDER | {"id": "ord_2"}], "has_more": False}
    hostile.play(hostile.reply(200, first, cookie), hostile.reply(200, last, cookie))
    monkeypatch.setenv("SVC_BASE_URL", hostile.url)
    monkeypatch.setenv("SVC_API_KEY", "sk_test_sandbox")
    assert svc("orders", "list", "--all").code == 0
    assert len(hostile.requests) == 2
    assert not any(b"cookie" in request.lower() for request in hostile.requests)


@pytest.mark.parametrize(
    "url",
    [
        pytest.param("https://api.example.com@evil.example", id="cve_2024_47081-userinfo"),
        pytest.param("https://user:word@api.example.com", id="cve_2024_47081-password"),
        pytest.param("https://api.example%2fcom", id="cve_2022_27780-slash_in_host"),
        pytest.param("https://api.example.com%0ahost=evil.example", id="cve_2020_5260-line_feed"),
        pytest.param("https://[127.0.0.1].evil.example", id="cve_2024_11168-brackets"),
        pytest.param("https://[::1]evil.example", id="cve_2024_11168-after_brackets"),
        pytest.param("https://api.example.com\\@evil.example", id="curl-backslash"),
        pytest.param("https://api.example.com\x1b[2J", id="cve_2024_50349-escape"),
    ],
)
def test_an_address_that_parsers_read_in_two_ways_is_refused(svc: Svc, url: str) -> None:
    """R23: exit 2 before anything is resolved, and the address is shown without its bytes."""
    result = svc(
        "orders", "list", "--base-url", url, env={"SVC_API_KEY": "sk_test_canary7Qx2Lw9Zp4"}
    )
    assert result.code == 2
    assert "\x1b" not in result.err
    assert "canary" not in result.err
    assert "word" not in result.err or "password" in result.err


@pytest.mark.parametrize(
    "text",
    ["sk_test_abc\rhost=evil", "sk_test_abc\r\n", "sk_test_abc\nsk_test_def\n", "sk_test_a\x00b"],
)
def test_cve_2024_52006_cve_2024_50338_cve_2026_82249_a_secret_is_one_line(
    svc: Svc, sandbox: Sandbox, gnome_keyring: None, text: str
) -> None:
    """Git and its helpers read a bare CR as a line end; here it is refused, not cut off (R44)."""
    result = svc("keys", "add", "--stdin", "--no-check", stdin=text)
    assert result.code == 2
    assert "abc" not in result.out + result.err


@pytest.mark.parametrize("name", ["shop\x1b[31m", "shop\r", "../shop", "shop\u202e"])
def test_cve_2024_50349_no_prompt_shows_escapes(svc: Svc, name: str) -> None:
    """Git showed escapes of a host in its password prompt; such a name is not taken at all."""
    result = svc("profiles", "create", name, "--base-url", "https://api.example.com")
    assert result.code == 2
    assert not any(mark in result.err for mark in ("\x1b", "\r", "\u202e"))


def test_cve_2023_48052_there_is_no_request_besides_the_one_asked_for(
    svc: Svc, hostile: ScriptedServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Httpie asked for updates without verifying; here nothing else is ever asked (R27, R75)."""
    hostile.play(hostile.reply(200, ORDER))
    monkeypatch.setenv("SVC_BASE_URL", hostile.url)
    monkeypatch.setenv("SVC_API_KEY", "sk_test_sandbox")
    assert svc("orders", "retrieve", "ord_1").code == 0
    assert (hostile.connections, len(hostile.requests)) == (1, 1)
    source = Path(__file__).parents[4] / "src/svc"
    # Targets and receivers on this machine or a private network, where somebody has said so.
    asked_for = {"listen/targets.py", "listen/http/dial.py", "sandbox/webhooks/sender.py"}
    texts = [
        path.read_text()
        for path in files_in(source, "*.py")
        if str(path.relative_to(source)) not in asked_for
    ]
    assert any("create_default_context(" in text for text in texts)
    assert all(hasattr(ssl, name) for name in ("CERT_NONE", "_create_unverified_context"))
    unverified = ("CERT_NONE", "check_hostname = False", "verify=False", "_create_unverified")
    assert not [word for text in texts for word in unverified if word in text]
