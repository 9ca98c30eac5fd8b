"""What a call sees: stored results, events, balances, settings, private keys."""

import json
from datetime import timedelta
from typing import Any

import pytest

from svc.sandbox.clock import parse, text
from svc.sandbox.store.documents import compact, public
from svc.sandbox.store.settings import DEFAULTS
from svc.sandbox.store.transaction import Transaction
from unit.sandbox.lab import Lab, ScriptedReceiver, add_endpoint, emit_paid

DAY = 86400
SECOND = 1_000_000


async def test_stored_result_is_held_for_exactly_24_hours(lab: Lab) -> None:
    """One microsecond before 24 h it is replayed byte for byte; at 24 h the key is free (R81)."""
    async with lab.running() as engine:

        def put(tx: Transaction, body: bytes) -> None:
            tx.put_result("key", "print", 200, body)

        await engine.run("test", lambda tx: put(tx, b'{"a": 1}'))
        first = engine.clock.now()
        await engine.runner.advance(to=first + DAY * SECOND - 1)
        held = engine.read("test", lambda tx: tx.get_result("key"))
        assert held is not None
        assert (held.fingerprint, held.status, held.body) == ("print", 200, b'{"a": 1}')
        assert engine.read("live", lambda tx: tx.get_result("key")) is None
        await engine.runner.advance(to=first + DAY * SECOND)
        assert engine.read("test", lambda tx: tx.get_result("key")) is None
        await engine.run("test", lambda tx: put(tx, b"second"))
        again = engine.read("test", lambda tx: tx.get_result("key"))
        assert again is not None
        assert again.body == b"second"


async def test_what_is_read_once_for_all_cannot_be_changed(lab: Lab) -> None:
    """Else one request would change what the next ones see, and no commit would hold it."""
    async with lab.running() as engine:

        def look(tx: Transaction) -> None:
            fields = {"status": "enabled", "events": ["order.paid"], "metadata": {"a": "b"}}
            endpoint = tx.new("webhook_endpoint", fields)
            tx.add(endpoint)
            known = tx.get_cached("webhook_endpoint", endpoint["id"])
            assert known is tx.get_cached("webhook_endpoint", endpoint["id"])
            assert known is not None
            places: tuple[Any, ...] = (known, known["metadata"])
            for place in places:
                with pytest.raises(TypeError):
                    place["status"] = "disabled"
            with pytest.raises(AttributeError):
                known["events"].append("order.canceled")
            tx.save({**endpoint, "status": "disabled"})
            now = tx.get_cached("webhook_endpoint", endpoint["id"])
            assert now is not None
            assert now["status"] == "disabled"

        await engine.run("test", look)


async def test_what_is_over_makes_room(lab: Lab, receiver: ScriptedReceiver) -> None:
    """A sandbox that runs for years keeps a day of results and 30 days of events and deliveries."""
    counted = ("results", "events", "deliveries")

    def use(tx: Transaction) -> None:
        for number in range(3):
            tx.put_result(f"{tx.now_text} {number}", "p", 200, b"body")
            emit_paid(tx)

    def sizes(tx: Transaction) -> list[int]:
        return [tx.store.all(f"SELECT COUNT(*) FROM {table}")[0][0] for table in counted]

    async with receiver.listening(), lab.running() as engine:
        await engine.run("test", add_endpoint(receiver.url))
        for _ in range(40):
            await engine.run("test", use)
            await engine.runner.advance(to=engine.clock.now() + DAY * SECOND)
        assert engine.read("test", sizes) == [3, 90, 90]


async def test_event_that_is_owed_outlives_its_30_days(
    lab: Lab, receiver: "ScriptedReceiver"
) -> None:
    """Held back for a year, it is delivered all the same when it may go."""
    held = {"webhook_delivery": "manual"}
    async with receiver.listening(), lab.running(frozen=False, settings=held) as engine:
        await engine.run("test", add_endpoint(receiver.url))
        identity = await engine.run("test", emit_paid)
        lab.real.advance(365 * DAY)
        for _ in range(3):
            await engine.run("test", emit_paid)
        await engine.runner.advance(to=engine.clock.now())
        assert receiver.arrivals[0].headers["svc-event-id"] == identity


@pytest.mark.parametrize("identity", ["evt_nothing", "", "evt_\ud800", "evt_\x00"])
async def test_unknown_event_is_none(lab: Lab, identity: str) -> None:
    """No id of any spelling breaks the look-up."""
    async with lab.running() as engine:
        assert engine.read("test", lambda tx: tx.get("event", identity)) is None
        assert engine.read("test", lambda tx: tx.get("order", identity)) is None


async def test_balances_are_kept_apart_by_mode(lab: Lab) -> None:
    """A balance may fall below zero; currencies come in alphabetical order."""
    async with lab.running() as engine:

        def move(tx: Transaction) -> None:
            tx.set_balance("USD", 100)
            tx.move_balance("USD", -250)
            tx.move_balance("EUR", 7)

        await engine.run("test", move)
        found = engine.read("test", lambda tx: tx.balances())
        assert list(found.items()) == [("EUR", 7), ("USD", -150)]
        assert engine.read("live", lambda tx: tx.balances()) == {}
        assert engine.read("live", lambda tx: tx.balance("USD")) == 0


async def test_settings_begin_as_the_contract_says_and_persist(lab: Lab) -> None:
    """The defaults (assumptions: Settings); a change survives a restart."""
    first_words = "settlement_currency USD, country US, unknown_parameters reject, "
    first_words += "error_envelope flat, insecure_http allow, rate_limit off, signature_time wall, "
    first_words += "webhook_delivery auto, encodings all, negative_balance allow"
    is_on = {"collect_landed_cost", "allow_http_webhooks"}
    is_off = {"smart_retries", "require_idempotency_key"}  # the first by the specification: 10
    is_off |= {"allow_remote_webhooks", "allow_self_signed_webhooks"}
    none = dict.fromkeys(("chaos", "voucher_days", "payment_fee_bps"), 0)
    async with lab.running() as engine:
        assert dict(engine.settings.current) == {
            **dict(pair.split() for pair in first_words.split(", ")),
            **dict.fromkeys(is_on, True),
            **dict.fromkeys(is_off, False),
            **none,
            "pinned_version": None,
        }
        await engine.run("test", lambda tx: tx.update_settings({"smart_retries": True}))
    async with lab.running() as engine:
        assert dict(engine.settings.current) == {**DEFAULTS, "smart_retries": True}


async def test_unknown_setting_is_a_mistake_of_the_caller(lab: Lab) -> None:
    """A misspelt name is never stored."""
    async with lab.running() as engine:
        with pytest.raises(KeyError):
            await engine.run("test", lambda tx: tx.update_settings({"smart": True}))
        assert dict(engine.settings.current) == dict(DEFAULTS)


def test_public_strips_private_keys_of_the_top_level_only() -> None:
    """The user's own metadata may begin with an underscore."""
    doc = {"id": "ord_1", "_client_secret": "x", "metadata": {"_a": "1"}}
    assert public(doc) == {"id": "ord_1", "metadata": {"_a": "1"}}


@pytest.mark.parametrize("value", ["Grüße", "\u2028", "日本", "\U0001f600", "\ud800", "\x00"])
async def test_documents_keep_every_text(lab: Lab, value: str) -> None:
    """Any string that JSON can hold comes back as it went in, from documents and events."""
    assert json.loads(compact({"a": value})) == {"a": value}
    async with lab.running() as engine:
        identity = await engine.run("test", lambda tx: emit_paid(tx, note=value))
        event = engine.read("test", lambda tx: tx.get("event", identity))
        assert event is not None
        assert event["data"]["object"]["note"] == value


def test_timestamps_are_strict_and_exact() -> None:
    """`YYYY-MM-DDTHH:MM:SSZ` and nothing else; fractions are cut, not rounded."""
    moment = parse("2026-02-28T23:59:59Z")
    assert text(moment + timedelta(microseconds=999_999)) == "2026-02-28T23:59:59Z"
    for wrong in ("2026-02-30T00:00:00Z", "2026-02-28T23:59:59", "2026-02-28 23:59:59Z", "٢" * 20):
        with pytest.raises(ValueError):
            parse(wrong)


@pytest.mark.parametrize(
    ("rate", "spelled"), [(4e-05, "0.00004"), (6.3e-05, "0.000063"), (1.1, "1.1"), (0.25, "0.25")]
)
def test_rates_are_spelled_in_plain_decimals_wherever_a_document_goes(
    rate: float, spelled: str
) -> None:
    """An answer and a webhook show the same digits (assumptions: Payout)."""
    text = compact({"note": 'say "fx_rate":1e-05', "fx_rate": rate}).decode()
    assert text.endswith(f'"fx_rate":{spelled}}}')
    assert json.loads(text) == {"note": 'say "fx_rate":1e-05', "fx_rate": rate}
