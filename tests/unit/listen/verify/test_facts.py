"""What a listener reads of an event that it has verified."""

import hashlib
import json
from typing import Any

import pytest

from support.listening import event
from svc.listen.verify.verify import Facts, Sequencer, read_facts


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-16-le", "utf-32"])
def test_an_event_in_another_encoding_of_json_is_read_all_the_same(encoding: str) -> None:
    """R46: a gateway may have written it anew; the service signs what it sends."""
    body = event(1, note="Zoë")
    assert read_facts(body.decode().encode(encoding)) == read_facts(body)
    assert read_facts(body).id == "evt_1"


@pytest.mark.parametrize("body", [b"[]", b'{"data":7}', b'{"data":{"object":[]}}', b"\xff\xfe\x00"])
def test_of_any_other_body_nothing_is_known_but_its_digest(body: bytes) -> None:
    """R46: whatever was signed is an event, and the same bytes are the same event."""
    facts = read_facts(body)
    assert facts == Facts(facts.id, "", "", None, "", None, None)
    assert facts.id == f"body_{hashlib.sha256(body).hexdigest()[:32]}"
    assert facts.id == read_facts(body).id != read_facts(body + b" ").id


ORDER = {"id": "ord_1", "object": "order", "currency": "JPY", "amount": 5, "amount_total": 7}


@pytest.mark.parametrize(
    ("changed", "price"),
    [
        (ORDER, "7 JPY"),  # what the shopper pays
        ({**ORDER, "amount_total": 0}, "5 JPY"),
        ({**ORDER, "amount_total": "7"}, "5 JPY"),
        ({**ORDER, "amount_total": True}, "5 JPY"),
        ({**ORDER, "object": "payment", "amount_captured": 3}, "3 JPY"),
        ({**ORDER, "object": "payment", "amount_captured": 0}, "5 JPY"),
        ({**ORDER, "object": "refund", "amount_captured": 3}, "5 JPY"),
        ({**ORDER, "amount": 0, "amount_total": 0}, None),
        ({**ORDER, "currency": None}, None),
        ({**ORDER, "currency": ""}, None),
        ({"id": "x", "currency": "EUR", "amount": 1234}, "12.34 EUR"),
    ],
)
def test_amount_is_that_of_the_object(changed: dict[str, Any], price: str | None) -> None:
    assert read_facts(event(data={"object": changed})).price == price


@pytest.mark.parametrize(
    ("field", "good", "bad"),
    [
        ("id", "evt_" + "a" * 124, ["evt_" + "a" * 125, "a b", "", 7]),
        ("type", "order.paid-2_x", ["order paid", "a" * 129, None]),
        ("created", "2026-10-01T11:00:00.250+02:00", ["yesterday", "1" * 41]),
        ("livemode", True, [1, "true"]),
    ],
)
def test_fact_that_has_not_its_shape_is_none(field: str, good: Any, bad: list[Any]) -> None:
    """Whatever was signed; no more than its shape is passed on to where it is shown."""
    assert getattr(read_facts(event(**{field: good})), field) == good
    for value in bad:
        found = getattr(read_facts(event(**{field: value})), field)
        assert found == {"livemode": None}.get(field, "") or found.startswith("body_")


def facts(object_id: str, created: str) -> Facts:
    return read_facts(
        json.dumps({"created": created, "data": {"object": {"id": object_id}}}).encode()
    )


def test_an_event_that_comes_after_a_later_one_of_its_object_is_late() -> None:
    """R60: of the latest 10,000 objects; of one without a time, or an object, nothing is known."""
    sequencer = Sequencer()
    came = [
        ("a", "2"),
        ("a", "1"),
        ("b", "1"),
        ("a", "2"),
        ("a", "3"),
        ("a", "2"),
        ("", "9"),
        ("", "1"),
    ]
    assert [sequencer.is_late(facts(*one)) for one in came] == [
        *(False, True, False, False, False, True, False, False)
    ]
    assert not sequencer.is_late(facts("a", ""))
    for number in range(9_999):
        sequencer.is_late(facts(f"o{number}", "1"))
    assert sequencer.is_late(facts("a", "1"))
    assert sequencer.is_late(facts("o1", "0"))
    sequencer.is_late(facts("one-more", "1"))
    assert [sequencer.is_late(facts(f"o{number}", "0")) for number in (3, 0)] == [True, False]
