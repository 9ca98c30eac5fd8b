"""What looks like a secret leaves in one header and nowhere else, whichever key is in use."""

from base64 import b64encode
from pathlib import Path
from typing import Final

import pytest

from support.running import Sandbox, inside

LIVE: Final = "sk_live_4eC39HqLyjWDarjtT1zdp7dc"
SECRETS: Final = (
    LIVE,
    "rk_test_4eC39HqLyjWDarjtT1zdp7dc",
    "whsec_4fQzN7cPq2LrTxVb9KdYhWm3",
    b64encode(f"{LIVE}:".encode()).decode(),
)
COMMANDS: Final = (
    ("orders", "retrieve", "{}"),
    ("orders", "update", "{}", "--amount", "5"),
    ("orders", "list", "--param", "x={}"),
    ("orders", "list", "--starting-after", "{}"),
    ("get", "/v1/orders?x={}"),
    ("post", "/v1/other", "-d", "note=see {}"),
    ("post", "/v1/other/{}", "-d", "a=b"),
    ("post", "/v1/other", "--form", "-d", "a[b]={}"),
    ("refunds", "create", "--payment", "pay_1", "-d", "metadata[key]={}"),
    ("refunds", "create", "--payment", "pay_1", "-d", "metadata[{}]=x"),
    ("refunds", "create", "--payment", "pay_1", "--idempotency-key", "{}"),
    ("refunds", "create", "--payment", "pay_1", "--reason", "{}", "--dry-run"),
    ("refunds", "create", "--payment", "pay_1", "--reason", "{}", "--curl"),
    ("webhook-endpoints", "create", "--url", "https://x.test/{}", "--events", "order.paid"),
    ("payouts", "create", "--amount", "5", "--reference", "two\nlines\t{}"),
)


@pytest.fixture
def own_key(sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch) -> str:
    """A key that no other program has: one of an earlier test may still ask the same sandbox."""
    made = sandbox.control("POST", "/keys", {"type": "secret"})
    monkeypatch.setenv("SVC_API_KEY", made["secret"])
    return str(made["key"])


@pytest.mark.parametrize("secret", SECRETS, ids=lambda text: text[:8])
@pytest.mark.parametrize("argv", COMMANDS, ids=" ".join)
def test_a_secret_in_a_request_is_refused(
    argv: tuple[str, ...], secret: str, sandbox: Sandbox, own_key: str, isolated: Path
) -> None:
    """R100: in a path, a query, a body, a header; before it is recorded or sent."""
    secret = secret.rstrip("=")
    result = inside(*(word.format(secret) for word in argv))
    assert (result.code, result.error["code"]) == (4, "secret_in_request"), result
    assert secret not in result.out + result.err
    nothing_happened(own_key, secret, sandbox, isolated)


@pytest.mark.parametrize("secret", SECRETS, ids=lambda text: text[:8])
def test_a_secret_in_a_row_is_refused(
    secret: str, sandbox: Sandbox, own_key: str, isolated: Path, tmp_path: Path
) -> None:
    """R100: no row of the list is sent, and the line is named."""
    path = tmp_path / "a.csv"
    path.write_text(f"payment,reason\npay_1,fine\npay_2,{secret}\n")
    for more in ((), ("--dry-run",)):
        result = inside("batch", "refunds.create", str(path), *more)
        assert (result.code, result.error["code"]) == (4, "secret_in_request")
        assert "Line 3" in result.error["message"]
        nothing_happened(own_key, secret, sandbox, isolated)


def test_the_key_is_seen_where_something_is_sent(own_key: str, sandbox: Sandbox) -> None:
    """What the checks here look for is there once a request leaves."""
    assert inside("orders", "list").code == 0
    assert [one["key"] for one in sandbox.control("GET", "/requests")["data"]].count(own_key) == 1


@pytest.mark.parametrize(
    "text", ["risk_live_assessment", "sk_test", "task_test_number", "desk_live_1"]
)
def test_words_that_only_end_so_are_sent(text: str, sandbox: Sandbox) -> None:
    """A field of a merchant's own may be called anything."""
    argv = ("refunds", "create", "--payment", "pay_1", "-d", f"metadata[ref]={text}", "--dry-run")
    assert inside(*argv).code == 0


def nothing_happened(key: str, secret: str, sandbox: Sandbox, isolated: Path) -> None:
    asked = sandbox.control("GET", "/requests")["data"]
    assert [one for one in asked if one["key"] == key] == []
    kept = [path for path in (isolated / "state").rglob("*") if path.is_file()]
    assert not [path for path in kept if secret.encode() in path.read_bytes()]
