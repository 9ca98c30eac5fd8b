"""What counts as an answer."""

import json
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from support.calls import orders, payments, payouts, quotes, refunds
from svc.client import find
from svc.client.call import Call
from svc.client.contradiction import Contradiction, find_other_object, refuse_contradiction
from svc.client.exchange import RawReply, header
from svc.client.refusal import is_replayed
from svc.client.reply import (
    Reply,
    ReplyLimits,
    classify,
    interpret_success,
    is_too_much,
    limits_of,
    read_server_time,
    reply_of,
)
from svc.client.retry import AttemptResult, Meaning
from svc.delivery.journal.entry import settle_by_error
from svc.errors import ReplyContradiction
from svc.json_text import NotJson, parse_any, parse_given, parse_list
from svc.service.facts import SANDBOX_TIME_HEADER, SANDBOX_WORLD_HEADER

ORDER = {"id": "ord_1", "object": "order"}


def reply(body: Any, status: int = 200, **options: Any) -> RawReply:
    payload = body if isinstance(body, bytes) else json.dumps(body).encode()
    return RawReply(status, (("request-id", "req_9"),), payload, **options)


@pytest.mark.parametrize(
    ("call", "body"),
    [
        (orders.retrieve("ord_1"), ORDER),
        (orders.retrieve("ord_1"), {**ORDER, "status": "novel", "extra": {"x": [1]}}),
        (orders.retrieve("ord_1"), {"id": "ord_1"}),
        (orders.capture("ord_1"), {"id": "pay_1", "object": "payment"}),
        (orders.capture("ord_1"), ORDER),
        (orders.list(), {"object": "list", "data": [], "has_more": False}),
        (orders.list(), {"data": [ORDER], "has_more": True, "url": "/x"}),
        (find.get("/v1/anything"), [1, 2]),
        (find.get("/v1/anything"), "text"),
    ],
)
def test_what_was_asked_for_is_taken(call: Call, body: Any) -> None:
    """Unknown fields and values are normal; the marker or the prefix names the type."""
    finding = interpret_success(reply(body), call)
    assert finding.meaning is Meaning.DONE
    assert finding.data == body
    assert finding.request_id == "req_9"


@pytest.mark.parametrize(
    ("call", "body"),
    [
        (orders.create({}), b""),
        (orders.create({}), b"<html>"),
        (orders.create({}), []),
        (orders.create({}), {}),
        (orders.create({}), None),
        (orders.create({}), {"object": "order"}),
        (orders.create({}), {"object": "order", "id": ""}),
        (orders.create({}), {"object": "order", "id": 7}),
        (orders.create({}), {"object": "order", "id": "ord_1/../x y"}),
        (orders.create({}), {"object": "order", "id": "ord_1; rm"}),
        (orders.create({}), {"object": "order", "id": "ord_\x1b[2J"}),
        (orders.create({}), {"object": "order", "id": "ord_\ud800"}),
        (orders.create({}), {"object": "order", "id": "ord_é"}),
        (orders.create({}), {"object": "order", "id": "ord_" + "a" * 125}),
        (orders.create({}), {"object": "refund", "id": "rf_1"}),
        (orders.create({}), {"object": "refund", "id": "ord_1"}),
        (orders.create({}), {**ORDER, "livemode": "yes"}),
        (orders.create({}), {**ORDER, "livemode": 1}),
        (orders.create({}), {"object": "list", "data": [], "has_more": False}),
        (orders.create({}), {"id": "rf_1"}),
        (orders.create({}), b'{"id":"ord_1","object":"order"'),
        (orders.create({}), b'{"id":"ord_1","object":"order"}x'),
        (orders.create({}), b'{"id":"ord_1","object":"order","x":NaN}'),
        (orders.create({}), b'{"id":"\xff","object":"order"}'),
        (orders.create({}), b"[" * 200_000),
        (orders.create({}), b'{"id":' + b"9" * 5000 + b"}"),
        (orders.list(), ORDER),
        (orders.list(), {"object": "list", "data": {}, "has_more": False}),
        (orders.list(), {"object": "list", "data": []}),
        (orders.list(), {"object": "list", "data": [], "has_more": "no"}),
        (orders.list(), {"object": "list", "data": ["x"], "has_more": False}),
        (orders.list(), {"object": "order", "data": [], "has_more": False}),
        (orders.list(), b'{"object":"list","data":[{"id":"ord_1"},'),
    ],
)
def test_what_was_not_asked_for_is_no_answer(call: Call, body: Any) -> None:
    """R14: bad JSON, a wrong object, a missing id are never taken for success."""
    finding = interpret_success(reply(body), call)
    assert finding.meaning is Meaning.UNREADABLE
    assert finding.detail


@pytest.mark.parametrize(
    ("status", "location", "body", "said"),
    [
        (302, None, b"", "it answered 302 and pointed to nowhere; redirects are never followed"),
        (
            301,
            "https://elsewhere.example/" + "a" * 300,
            b"",
            (
                f"it answered 301 and pointed to https://elsewhere.example/{'a' * 173}…; "
                "redirects are never followed"
            ),
        ),
        (503, None, b"<h1>Back soon.</h1>", "it answered 503: Back soon"),
        (503, None, b"", "it answered 503: without saying why"),
        (400, None, b'{"message": "No such box."}', "it answered 400: No such box"),
    ],
)
def test_what_was_answered_is_told_in_one_line(
    status: int, location: str | None, body: bytes, said: str
) -> None:
    """Where it pointed to or what it said, the service's own words once."""
    headers = () if location is None else (("location", location),)
    found = classify(RawReply(status, headers, body), orders.retrieve("ord_1"), 0.0)
    assert found.detail == said


def test_a_body_without_an_end_is_taken_only_if_it_parses() -> None:
    """Without a length a cut cannot be seen, but half an object is no JSON."""
    whole, half = json.dumps(ORDER).encode(), b'{"id":"rf_1"'
    call = orders.retrieve("ord_1")
    assert interpret_success(reply(whole, complete=False), call).meaning is Meaning.DONE
    cut = interpret_success(reply(half, complete=False), call)
    assert cut.meaning is Meaning.UNREADABLE
    assert "cut off" in cut.detail


def test_the_text_is_kept_as_sent() -> None:
    """A single object is shown exactly as the service sent it."""
    text = ' {"object": "order", "id":"ord_1", "rate": 1.50 } '
    finding = interpret_success(reply(text.encode()), orders.retrieve("ord_1"))
    assert finding.text == text
    assert finding.data["rate"].text == "1.50"


def test_list_entries_are_kept_as_sent() -> None:
    """Each entry of a list can be printed without encoding it again."""
    text = '{"has_more":false,\n"data" : [ {"id":"a","n":1.0} ,{"id":"b", "s":"]},{"}\t] ,"object":"list"}'
    finding = interpret_success(reply(text.encode()), orders.list())
    assert finding.slices == ('{"id":"a","n":1.0}', '{"id":"b", "s":"]},{"}')
    assert finding.data == json.loads(text)


documents = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=10,
)


@given(
    st.dictionaries(st.sampled_from(["data", "object", "has_more", "x"]), documents),
    st.sampled_from([None, 1]),
)
def test_slicing_agrees_with_the_standard_parser(
    document: dict[str, Any], indent: int | None
) -> None:
    """The list reader sees what the standard library sees, and its slices are the entries."""
    text = json.dumps(document, indent=indent)
    data, slices = parse_list(text)
    assert data == document
    if isinstance(document.get("data"), list):
        assert [json.loads(one) for one in slices] == document["data"]
    else:
        assert slices == ()


@given(st.text(st.sampled_from('{}[]":,data12 \n'), max_size=14))
@example(text="")
@example(text='{"data":[1,]}')
@example(text='{"data":[],"data":[]}')
@example(text='{"data":[]}{')
def test_slicing_refuses_what_the_standard_parser_refuses(text: str) -> None:
    """No text is JSON to one reader and not to the other; a name stands once for both."""
    try:
        expected: Any = parse_given(text)
    except NotJson:
        with pytest.raises(NotJson):
            parse_list(text)
    else:
        assert parse_list(text)[0] == expected


@pytest.mark.parametrize(
    "text",
    [
        '{"object":"list","data":[{"id":"ord_1","id":"ord_2"}],"has_more":false}',
        '{"object":"list","data":[{"id":"ord_1","x":{"a":1,"a":2}}],"has_more":false}',
        '{"object":"list","data":[{"id":"ord_1"}],"data":[],"has_more":false}',
        '{"object":"list","data":[],"data":[{"id":"ord_1"}],"has_more":false}',
        '{"object":"list","data":[],"has_more":true,"has_more":false}',
        '{"object":"list","data":[],"has_more":false,"x":{"a":1,"a":2}}',
    ],
)
def test_a_list_in_which_a_name_stands_twice_is_no_answer(text: str) -> None:
    """R14: as in an answer of one object, one of the two would be lost in silence."""
    finding = interpret_success(reply(text.encode()), orders.list())
    assert finding.meaning is Meaning.UNREADABLE
    with pytest.raises(NotJson, match="appears twice"):
        parse_list(text)


@pytest.mark.parametrize(
    ("call", "said", "shown"),
    [
        (orders.create({"amount": 100}), {"amount": 101}, ("amount", "100", "101")),
        (orders.create({"currency": "EUR"}), {"currency": "USD"}, ("currency", "EUR", "USD")),
        (orders.create({"currency": "EUR"}), {"currency": 978}, ("currency", "EUR", "978")),
        (orders.create({"amount": 100}), {"amount": "much"}, ("amount", "100", "much")),
        (orders.create({"amount": "100"}), {"amount": "1e2"}, ("amount", "100", "1e2")),
        (orders.create({"amount": 1015}), {"amount": "1_015"}, ("amount", "1015", "1_015")),
        (
            orders.create({"amount": 15}),
            {"amount": "\uff11\uff15"},
            ("amount", "15", "\uff11\uff15"),
        ),
        (refunds.create({"amount": "100"}), {"amount": 10}, ("amount", "100", "10")),
        (payouts.create({"amount": 1}), {"amount": 1.5}, ("amount", "1", "1.5")),
        (quotes.create({"currency": "EUR"}), {"currency": "JPY"}, ("currency", "EUR", "JPY")),
        (orders.capture("ord_1", {"amount": 5}), {"amount_captured": 6}, ("amount_captured",)),
        (payments.retrieve("pay_1"), {"id": "pay_2"}, ("id", "pay_1", "pay_2")),
        (payments.retrieve("pay_1"), {"id": "pay_1", "livemode": True}, ("live", "test")),
    ],
)
def test_an_answer_that_contradicts_its_request_shows_both(
    call: Call, said: dict[str, Any], shown: tuple[str, ...]
) -> None:
    """R15: mode, amount and currency are compared; a difference is exit 1 with both values."""
    finding = interpret_success(reply(said), find.get("/v1/x"))
    with pytest.raises(ReplyContradiction) as caught:
        refuse_contradiction(call, finding, mode="test", idempotency_key="k")
    assert caught.value.exit_code == 1
    assert all(word in caught.value.message for word in shown)


@pytest.mark.parametrize(
    ("call", "outcome", "kept"),
    [
        (orders.update("ord_1", {"amount": 100}), "done", "ord_1"),
        (orders.create({"amount": 100}), "unknown", None),
        (find.post("/v1/gift_cards", {"amount": 100}), "unknown", None),
        (orders.retrieve("ord_1"), None, None),
    ],
    ids=["changed", "made", "nobody knows", "read"],
)
def test_a_contradiction_is_about_ours_where_the_path_names_it(
    call: Call, outcome: str | None, kept: str | None
) -> None:
    """R15, R93: what was changed is kept as done; what was made may be somebody else's."""
    said = {"id": "ord_1", "amount": 101, "livemode": True}
    finding = interpret_success(reply(said), find.get("/v1/x"))
    with pytest.raises(ReplyContradiction) as caught:
        refuse_contradiction(call, finding, mode="test", idempotency_key="k")
    found = caught.value
    assert (found.outcome, found.status, found.idempotency_key) == (outcome, 200, "k")
    assert ("It is about ord_1." in found.message) is call.changes
    assert found.retryable is (outcome == "unknown")
    again = "Within 23 hours it is safe to send it again with --idempotency-key k"
    assert (found.hint == again) is (outcome == "unknown")
    assert ("Do not repeat it." in (found.hint or "")) is (outcome != "unknown")
    assert settle_by_error(found).object_id == kept


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (orders.create({"amount": 100}), {"amount": 100, "livemode": False}),
        (orders.create({"amount": 100}), {}),
        (orders.create({"amount": 100}), {"amount": None}),
        (orders.create({"amount": "100"}), {"amount": 100}),
        (orders.create({"amount": 100}), {"amount": "100"}),
        (orders.create({"amount": 100}), {"amount": 100.0}),
        (orders.create({"amount": "100"}), {"amount": 100.0}),
        (orders.create({"amount": 100}), {"amount": "100.0"}),
        (orders.create({"amount": 100}), {"amount": 100, "livemode": "yes"}),
        (orders.capture("ord_1"), {"order": {"id": "ord_1"}}),
    ],
)
def test_an_answer_that_agrees_passes(call: Call, said: dict[str, Any]) -> None:
    """R15: values are compared, not spellings; what the answer does not say is no contradiction."""
    finding = interpret_success(reply(said), find.get("/v1/x"))
    refuse_contradiction(call, finding, mode="test", idempotency_key=None)


@pytest.mark.parametrize("live", [True, False])
def test_each_mode_takes_answers_of_its_own(live: bool) -> None:
    """R15: with both named where they differ, in test mode and where money moves."""
    own, other = ("live", "test") if live else ("test", "live")
    call = payments.retrieve("pay_1")
    for livemode in (live, None):
        finding = interpret_success(reply({"id": "pay_1", "livemode": livemode}), call)
        refuse_contradiction(call, finding, mode=own, idempotency_key=None)
    finding = interpret_success(reply({"id": "pay_1", "livemode": not live}), call)
    with pytest.raises(ReplyContradiction, match=f"is of {other} mode, the request was of {own}"):
        refuse_contradiction(call, finding, mode=own, idempotency_key=None)


def test_entries_of_a_list_must_be_of_the_mode() -> None:
    """R15: a live object in a test list is not shown as a test object."""
    page = {
        "data": [{"id": "a", "livemode": False}, {"id": "b", "livemode": True}],
        "has_more": False,
    }
    finding = interpret_success(reply(page), orders.list())
    with pytest.raises(ReplyContradiction):
        refuse_contradiction(orders.list(), finding, mode="test", idempotency_key=None)


def test_a_contradiction_says_which_state_of_a_sandbox_has_answered() -> None:
    """R93: one that was reset gives the same ids again; its id is of no use without that."""
    answered = reply({"id": "ord_1", "amount": 101})
    worlds = {(): None, ((SANDBOX_WORLD_HEADER.lower(), "w_7"),): "w_7"}
    for headers, world in worlds.items():
        finding = interpret_success(answered._replace(headers=headers), find.get("/v1/x"))
        with pytest.raises(Contradiction) as caught:
            refuse_contradiction(
                orders.update("ord_1", {"amount": 100}), finding, mode="test", idempotency_key="k"
            )
        assert caught.value.world == world
        assert settle_by_error(caught.value).world == world


@pytest.mark.parametrize(
    ("call", "said", "field"),
    [
        (orders.update("ord_1", {}), {"object": "order", "id": "ord_2"}, "order"),
        (orders.update("ord_1", {}), {"object": "order", "id": "ord_1"}, None),
        (orders.update("ord_1", {}), {"id": "ord_2"}, "order"),
        (orders.update("ord_1", {}), {"id": "pay_2"}, None),
        (orders.capture("ord_1"), {"object": "payment", "id": "pay_1", "order": "ord_2"}, "order"),
        (orders.capture("ord_1"), {"object": "payment", "id": "pay_1", "order": "ord_1"}, None),
        (orders.capture("ord_1"), {"object": "order", "id": "ord_2"}, "order"),
        (orders.capture("ord_1"), {"object": "payment", "order": {"id": "ord_2"}}, "order"),
        (orders.capture("ord_1"), {"object": "payment", "order": {"id": "ord_1"}}, None),
        (orders.capture("ord_1"), {"object": "payment", "id": "pay_2"}, None),
        (orders.update("ord_1", {}), {"object": "order", "id": "not_ord_2"}, "order"),
    ],
)
def test_the_object_of_the_path_is_found_by_its_marker_or_its_prefix(
    call: Call, said: dict[str, Any], field: str | None
) -> None:
    """R93: an answer about another object is not ours, whichever kind of object it shows."""
    found = find_other_object(said, call)
    assert (found is None) if field is None else ("ord_2, not the one asked for" in (found or ""))
    assert found is None or found.startswith(f"its {field} is ")


@pytest.mark.parametrize(
    ("call", "mebibytes"),
    [
        (orders.retrieve("ord_1"), 1),
        (refunds.create({}), 1),
        (orders.list(), 16),
        (find.get("/v1/x"), 16),
    ],
)
def test_more_is_read_of_a_page_than_of_an_object(call: Call, mebibytes: int) -> None:
    """R99: what nobody knows may be a page; what is no page holds one object."""
    limits = limits_of(call)
    assert limits.size == mebibytes * 1024 * 1024
    assert limits.values == {1: 20_000, 16: 200_000}[mebibytes]


@pytest.mark.parametrize(
    ("text", "much"),
    [
        ("[" + "1," * 9 + "1]", False),
        ("[" + "1," * 90 + "1]", True),
        ('["' + "1," * 90 + '"]', False),
        ('"' + "x" * 9_000_000 + '"', False),
        ('"' + "x" * 8_388_000 + '\U0001f600"', False),
        ('"' + "x" * 8_390_000 + '\U0001f600"', True),
    ],
    ids=["few", "many", "one text", "long", "under 32 MiB", "over 32 MiB"],
)
def test_what_would_fill_the_memory_is_not_parsed(text: str, much: bool) -> None:
    """R99: by its values, and by its size, which one emoji makes four times as large."""
    assert is_too_much(text, ReplyLimits(1024 * 1024, 50)) is much


def test_headers_are_found_and_joined() -> None:
    """Names are compared without case; several values are one list."""
    headers = (("a", "1"), ("b", "2"), ("a", "3"))
    assert header(headers, "A") == "1, 3"
    assert header(headers, "c") is None
    assert is_replayed((("idempotent-replayed", "true"),))
    assert not is_replayed((("idempotent-replayed", "false"),))


@pytest.mark.parametrize(
    ("said", "ours"),
    [
        ({"iban": "DE89 3704 0044 0532 0130 00"}, True),
        ({"iban": "DE89**************3000"}, True),
        ({"iban": "DE89370400440532******"}, True),
        ({"last4": "3000"}, True),
        ({"iban": "FR7630006000011234567890189"}, False),
        ({"last4": "0189"}, False),
    ],
)
def test_a_payout_to_another_account_is_not_ours(said: dict[str, str], ours: bool) -> None:
    """R93: however much of the number an answer shows, its end is the one that was asked for."""
    call = payouts.create({"amount": 500, "destination": {"iban": "DE89370400440532013000"}})
    answer = reply({"id": "po_1", "object": "payout", "amount": 500, "destination": said})
    assert (interpret_success(answer, call).meaning is Meaning.DONE) is ours


DESTINATION = {
    "country": "DE",
    "account_holder_name": "Kunze Möbel GmbH",
    "bank_name": "Sparkasse Köln",
    "bic": "COLSDE33XXX",
    "bank_code": "37050198",
}


def answered(wanted: dict[str, str], said: object) -> AttemptResult:
    """What an answer means that says this of where a payout goes."""
    call = payouts.create({"amount": 500, "destination": wanted})
    return interpret_success(reply({"id": "po_1", "object": "payout", "destination": said}), call)


@pytest.mark.parametrize("name", DESTINATION)
def test_a_destination_is_compared_in_the_spelling_of_banks(name: str) -> None:
    """R93, R119: only another end of an account is another request; what is not said is not."""
    wanted = DESTINATION[name]
    other = answered(DESTINATION, DESTINATION | {name: "another"})
    assert (other.meaning is Meaning.FOREIGN) is (name == "iban")
    if name == "iban":
        assert f"its destination is {name} another, not the one asked for" in other.detail
    spelt = DESTINATION | {name: f" {wanted.upper()[:3]} {wanted.lower()[3:]}"}
    for said in (DESTINATION, spelt, {name: wanted}, DESTINATION | {name: None}, {}, "ba_1"):
        assert answered(DESTINATION, said).meaning is Meaning.DONE
    assert answered({"country": "DE"}, {"country": "DE", name: DESTINATION[name]}).data["id"]


@pytest.mark.parametrize(
    ("said", "ours"),
    [
        ({"account_number": "0000 1234 5678"}, True),
        ({"account_number": "********5678"}, True),
        ({"account_number": "1234********"}, True),
        ({"last4": "5678"}, True),
        ({"account_number": "000012345679"}, False),
        ({"last4": "5679"}, False),
    ],
)
def test_an_account_number_is_known_by_its_end(said: dict[str, str], ours: bool) -> None:
    """R93: as an IBAN is, where a country has none."""
    assert (answered({"account_number": "000012345678"}, said).meaning is Meaning.DONE) is ours


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, None),
        ({"date": "Tue, 14 Nov 2023 22:13:20 GMT"}, 1_700_000_000.0),
        ({"date": "yesterday"}, None),
        ({SANDBOX_TIME_HEADER: "2023-11-14T22:13:21Z"}, 1_700_000_001.0),
        ({SANDBOX_TIME_HEADER: "tomorrow", "date": "Tue, 14 Nov 2023 22:13:20 GMT"}, None),
        (
            {
                SANDBOX_TIME_HEADER: "2023-11-14T22:13:21+00:00",
                "date": "Tue, 14 Nov 2023 22:13:20 GMT",
            },
            1_700_000_001.0,
        ),
    ],
)
def test_a_sandboxs_own_clock_is_believed(headers: dict[str, str], seconds: float | None) -> None:
    """R4: it can be turned, which the `Date` of its answers does not follow."""
    assert (
        read_server_time(tuple((name.lower(), value) for name, value in headers.items())) == seconds
    )


def test_a_reply_is_what_was_answered() -> None:
    """Nothing of it is lost on the way to whoever asked, nor which sandbox it was."""
    headers = (
        ("request-id", "req_9"),
        ("idempotent-replayed", " TRUE "),
        (SANDBOX_WORLD_HEADER.lower(), "w_7"),
    )
    raw = RawReply(201, headers, json.dumps(ORDER).encode())
    call = orders.create({})
    found = reply_of(interpret_success(raw, call), call)
    assert found == Reply(
        201, headers, json.dumps(ORDER), ORDER, (), "req_9", True, 1, creates=True
    )
    assert found.world == "w_7"
    assert found._replace(headers=()).world is None


@pytest.mark.parametrize(
    ("call", "data", "meaning"),
    [
        (orders.create({}), ORDER, Meaning.FOREIGN),
        (orders.create({}), {**ORDER, "id": "ord_2"}, Meaning.DONE),
        (orders.update("ord_1", {}), ORDER, Meaning.DONE),
        (orders.retrieve("ord_1"), ORDER, Meaning.DONE),
    ],
    ids=["made before", "made", "changed", "read"],
)
def test_what_another_request_has_made_was_not_made_by_this_one(
    call: Call, data: dict[str, str], meaning: Meaning
) -> None:
    """R93: only what a request makes is its own; what it changes others have made."""
    asked: list[tuple[str, str | None]] = []

    def is_claimed_by_other(made: str, world: str | None) -> bool:
        asked.append((made, world))
        return made == "ord_1"

    headers = ((SANDBOX_WORLD_HEADER.lower(), "w_7"),)
    found = classify(reply(data)._replace(headers=headers), call, 0.0, is_claimed_by_other)
    assert found.meaning is meaning
    assert asked == ([(data["id"], "w_7")] if call.creates else [])
    assert classify(reply(data), call, 0.0).meaning is Meaning.DONE
    assert ("ord_1, which another request has made" in found.detail) is (meaning is Meaning.FOREIGN)


@pytest.mark.parametrize(
    ("data", "value"),
    [
        *((b'{"a": [1, "\xc3\xa4"]}', {"a": [1, "ä"]}), ("[1.50]", [1.5]), (b"null", None)),
        *((b"", None), (b"<html>", None), (b"\xff", None)),
        *(("[" * 100_000, None), ("9" * 10_000, None)),
    ],
)
def test_what_strangers_write_is_a_value_or_nothing(data: bytes | str, value: object) -> None:
    """R46, R54: whatever a sender, a target or a program has written, it is only looked at."""
    assert parse_any(data) == value
