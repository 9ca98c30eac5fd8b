"""One check of amounts, whichever way they come in."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import pytest

from support.running import Result, inside

# No service is there: whatever gets so far as to be sent ends with 8.
NOWHERE: Final = {"SVC_BASE_URL": "http://127.0.0.1:9", "SVC_API_KEY": "sk_test_sandbox"}
BAD: Final = (
    *("10.00", "1e2", "-0", "0", "007", "-5", "1.\u00b2", "\u0663", "1_015", "1000000000000"),
    *("\uff11\uff10\uff11\uff15", "9" * 5000),
)
Send = Callable[[str, Path], Result]


def typed(spelling: str, _: Path) -> Result:
    return inside("refunds", "create", "--payment", "pay_1", f"--amount={spelling}", env=NOWHERE)


def data(spelling: str, _: Path) -> Result:
    fields = ("-d", "payment=pay_1", "-d", f"amount:={spelling}")
    return inside("refunds", "create", *fields, env=NOWHERE)


def any_post(spelling: str, _: Path) -> Result:
    fields = ("-d", "payment=pay_1", "-d", f"amount:={spelling}")
    return inside("post", "/v1/refunds", *fields, env=NOWHERE)


def form(spelling: str, _: Path) -> Result:
    return inside(
        "post", "/v1/orders/ord_1/capture", "-d", f"amount={spelling}", "--form", env=NOWHERE
    )


def body(spelling: str, _: Path) -> Result:
    text = f'{{"payment":"pay_1","amount":{spelling}}}'.encode()
    return inside("refunds", "create", "--body", "-", stdin=text, env=NOWHERE)


def table(spelling: str, folder: Path) -> Result:
    path = folder / "a.csv"
    path.write_text(f"payment,amount\npay_1,{spelling}\n", encoding="utf-8")
    return inside("batch", "refunds.create", str(path), "--dry-run", env=NOWHERE)


def lines(spelling: str, folder: Path) -> Result:
    path = folder / "a.ndjson"
    path.write_text(f'{{"payment":"pay_1","amount":{spelling}}}\n', encoding="utf-8")
    return inside("batch", "refunds.create", str(path), "--dry-run", env=NOWHERE)


@pytest.mark.parametrize("spelling", BAD, ids=lambda text: text[:9])
@pytest.mark.parametrize("send", [typed, data, any_post, form, body, table, lines])
def test_what_is_no_amount_is_refused_by_all(send: Send, spelling: str, tmp_path: Path) -> None:
    """R98: a whole number of minor units from 1 up, in plain digits; nothing is sent.

    In a list it is the row that is refused, so that others may be sent: exit 9.
    """
    result = send(spelling, tmp_path)
    assert result.code == (9 if send in (table, lines) else 2), result
    assert "bug" not in result.err


EUROS = ("--currency", "EUR", "--country", "DE")
ORDER = ("--amount", "1000", *EUROS)


def sent(*argv: str, stdin: bytes = b"") -> Any:
    result = inside(*argv, "--dry-run", stdin=stdin, env=NOWHERE)
    assert result.code == 0, result.err
    return json.loads(result.out)["body"]


@pytest.mark.parametrize(
    "argv",
    [
        ("orders", "create", *ORDER, "--item", "name=A,quantity=1,unit_amount={}"),
        ("orders", "create", *ORDER, "-d", "items[0][unit_amount]:={}"),
        ("orders", "update", "ord_1", "-d", "amount:={}"),
        ("orders", "capture", "ord_1", "-d", "amount={}"),
        ("payouts", "create", *EUROS, "--account-holder-name", "A", "-d", "amount:={}"),
        ("quotes", "create", *EUROS, "--item", "name=A,quantity=1", "--shipping-amount={}"),
        ("post", "/v1/landed-cost/quotes", "-d", "shipping_amount:={}"),
    ],
)
def test_every_amount_of_every_operation_is_checked(argv: tuple[str, ...]) -> None:
    """R98: one table of fields; an item or its freight may cost nothing, an amount may not."""
    for spelling in ("-5", "1.5"):
        words = [word.format(spelling) for word in argv]
        refused = inside(*words, "--dry-run", env=NOWHERE)
        assert (refused.code, "amount" in refused.error["param"]) == (2, True), refused.err
    words = [word.format(0) for word in argv]
    free = any("unit_amount" in word or "shipping" in word for word in argv)
    assert inside(*words, "--dry-run", env=NOWHERE).code == (0 if free else 2)


def test_text_is_no_amount_in_json_and_every_amount_is_text_in_a_form() -> None:
    """The service is sent what was meant, and the hint says how to spell it."""
    result = inside("refunds", "create", "-d", "payment=pay_1", "-d", "amount=500", env=NOWHERE)
    assert (result.code, result.error["param"]) == (2, "amount")
    assert "amount '500' is not a number" in result.error["message"]
    assert sent("orders", "capture", "ord_1", "-d", "amount=500") == "amount=500"


def test_numbers_leave_as_they_were_spelled() -> None:
    """No float rounds what a person wrote, on any way in, and the dry run shows what is sent."""
    spelled = "12345678901234567.89"

    def out(*words: str, stdin: bytes = b"") -> str:
        return inside("post", "/v1/x", *words, stdin=stdin, env=NOWHERE).out

    body = f'{{"n":{spelled}}}'
    assert body in out("-d", f"n:={spelled}", "--curl")
    assert '{"n":1e2,"m":-0}' in out("-d", "n:=1e2", "-d", "m:=-0", "--curl")
    assert f'"n": {spelled}\n' in out("-d", f"n:={spelled}", "--dry-run")
    assert body in out("--body", "-", "--curl", stdin=body.encode())
