"""What an answer tells of a row, and how that is reported."""

from typing import Any

import pytest

from svc.cli.sandbox.compare.asking import Exchange, Inquiry
from svc.cli.sandbox.compare.judging import judge, mask_secrets
from svc.cli.sandbox.compare.report import ComparisonReport
from svc.errors import CheckFailed
from svc.sandbox.fidelity import FidelityRow, Probe, ProbeRequest

ROW = FidelityRow("Orders", "row", "what it says", "chose", "2", "tests/x")


def taken(**changes: Any) -> dict[str, Any]:
    return {"status": 200, "done": True, "outcome": "taken", "body": {}, "error": {}, **changes}


def inquiry_of(asked: ProbeRequest, answer: Any, why: str = "") -> Inquiry:
    nobody: Any = None
    inquiry = Inquiry(nobody, "", nobody)
    inquiry.exchanges = {"one": Exchange(asked, "POST /v1/orders", "k", answer, why, is_open=True)}
    return inquiry


def found(answer: Any, *probe: str, refused: bool = False, **more: Any) -> dict[str, Any]:
    """The finding about a request that is answered so."""
    asked = ProbeRequest("one", "POST /v1/orders", "usually", body={"a": 1}, refused=refused)
    whether_taken = more.pop("whether_taken", False)
    asks = Probe("one", whether_taken, *(probe or ("status", "`200`")), **more)
    return judge(ROW, asks, inquiry_of(asked, answer, "it said nothing"))


REFUSED = taken(status=402, done=False, outcome="refused", error={"code": "c", "message": "m"})


@pytest.mark.parametrize(
    ("answer", "probe", "more", "reason"),
    [
        (None, (), {}, "it said nothing"),
        (REFUSED, (), {}, "POST /v1/orders was refused"),
        (taken(), (), {"refused": True}, "POST /v1/orders was taken"),
        (
            taken(),
            ("status", "`200`", "body.id"),
            {},
            "POST /v1/orders brought nothing to tell it by",
        ),
        (taken(), ("status", "length(status)"), {}, "length()"),
    ],
)
def test_a_row_that_cannot_be_told_has_its_reason(
    answer: Any, probe: tuple[str, ...], more: dict[str, Any], reason: str
) -> None:
    said = found(answer, *probe, **more)
    assert said["result"] == "unknown"
    assert said["reason"].startswith(reason)
    assert {said[name] for name in ("expected", "answered", "means", "setting")} == {None}
    assert said["answer"] is None


def test_a_row_that_holds_is_told_with_its_request() -> None:
    said = found(taken(), "status", "`200`", when="`true`")
    shown = ("subject", "name", "what", "mark", "request", "sent", "result", "reason")
    assert [said[name] for name in shown] == [
        *("Orders", "row", "what it says", "chose", "POST /v1/orders", {"a": 1}, "held", None),
    ]
    assert said["object"] == "assumption_check"


@pytest.mark.parametrize(
    ("value", "setting", "instead", "follows"),
    [
        ("DE", "country=*", "", {"country": "DE"}),
        (7, "country=*", "", None),
        (True, "smart_retries=true", "", {"smart_retries": True}),
        (True, "smart_retries=false", "`true`", {"smart_retries": False}),
        (True, "smart_retries=true", "`1`", None),
        (1, "rate_limit=on", "body.nothing", None),
        (1, "rate_limit=on", "", {"rate_limit": "on"}),
        (1, "", "", None),
    ],
)
def test_a_difference_has_both_answers_and_the_setting_that_follows_it(
    value: Any, setting: str, instead: str, follows: Any
) -> None:
    """Where one is: what was answered must be what the setting does, and true is not 1."""
    probe: Any = {"setting": setting, "alternative": instead}
    said = found(taken(body={"a": value}), "body.a", "`false`", **probe)
    assert (said["result"], said["setting"]) == ("different", follows)
    assert (said["expected"], said["answered"], said["means"]) == (False, value, "usually")
    assert said["answer"] == {"status": 200}


def test_an_answer_of_another_form_is_a_difference() -> None:
    """What is looked for is not there to be looked at: said in words, and not that it is null."""
    said = found(taken(body={"a": 7}), "length(body.a)", "`1`")
    assert said["result"] == "different"
    assert said["answered"].startswith("nothing of this form: length()")


def test_whether_a_request_is_taken_may_be_what_differs() -> None:
    """Also where what is looked at is not there; the refusal is told in the service's words."""
    said = found(REFUSED, "body.id", "length(status)", whether_taken=True, means="own words")
    assert (said["result"], said["expected"], said["answered"]) == ("different", None, None)
    assert (said["means"], said["answer"]) == (
        "own words",
        {"status": 402, "code": "c", "message": "m"},
    )
    assert (
        found(taken(), "status", "`200`", refused=True, whether_taken=True)["result"] == "different"
    )


def test_no_secret_is_told_and_no_text_without_end() -> None:
    told = {
        "client_secret": "s",
        "secret": None,
        "list": ["x" * 301, 5],
        "key": "sk_live_abcdefgh1234",
    }
    masked = mask_secrets(told)
    assert (masked["client_secret"], masked["secret"]) == ("…", None)
    assert masked["list"] == ["x" * 300, 5]
    assert "abcdefgh" not in masked["key"]


def report(*findings: Any) -> ComparisonReport:
    asked = ProbeRequest("one", "POST /v1/orders", "m", body={})
    return ComparisonReport("shop", "https://a", inquiry_of(asked, None), [*findings])


def different(count: int, setting: Any = None) -> list[Any]:
    return [{"result": "different", "name": f"r{n}", "setting": setting} for n in range(count)]


@pytest.mark.parametrize(
    ("findings", "saved", "message", "hinted"),
    [
        (different(5, {"a": 1}), False, "in 5 of 5 rows: r0, r1, r2, r3, r4.", True),
        (different(5, {"a": 1}), True, "in 5 of 5 rows: r0, r1, r2, r3, r4.", False),
        (different(6), False, "in 6 of 6 rows: r0, r1, r2, r3, r4 and 1 more.", False),
        ([{"result": "unknown"}], False, "Nothing could be told of https://a.", False),
    ],
)
def test_a_comparison_ends_with_what_differs(
    findings: list[Any], saved: bool, message: str, hinted: bool
) -> None:
    with pytest.raises(CheckFailed) as caught:
        report(*findings).conclude(saved=saved)
    assert caught.value.message.endswith(message)
    assert ("--save" in (caught.value.hint or "")) is hinted
    report({"result": "held"}).conclude(saved=saved)


def test_what_may_have_been_made_is_told_with_its_key() -> None:
    """Neither what was answered nor what only looks."""
    asked, look = (ProbeRequest("", f"{verb} /v1/orders", "m", body={}) for verb in ("POST", "GET"))
    inquiry = inquiry_of(asked, None)
    one = inquiry.exchanges["one"]
    inquiry.exchanges["two"] = one._replace(is_open=False)
    inquiry.exchanges["three"] = one._replace(asked=look)
    findings = [*different(1, {"a": 1}), {"result": "held"}, {"result": "unknown"}]
    data = ComparisonReport("shop", "https://a", inquiry, findings).as_data(0)
    assert data["unsettled"] == [{"request": "POST /v1/orders", "idempotency_key": "k"}]
    assert [data[name] for name in ("held", "different", "unknown")] == [1, 1, 1]
    assert (data["settings"], data["objects"], data["origin"]) == ({"a": 1}, [], "https://a")
    assert (data["object"], data["profile"], len(data["findings"])) == ("comparison", "shop", 3)
    assert data["compared_at"] == "1970-01-01T00:00:00Z"
