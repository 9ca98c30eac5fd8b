"""What nobody described is shown as well, and what is not as assumed is shown as it is."""

import json
import re
from decimal import Decimal
from typing import Any

import pytest

BASE = {"id": "ord_1", "object": "order", "currency": "EUR"}


def lines_of(text: str) -> list[str]:
    """The lines of a block without their indent, two blanks between label and value."""
    return [re.sub("  +", "  ", line.strip()) for line in text.splitlines()]


def test_unknown_fields_follow_under_the_names_that_the_service_gives(printed: Any) -> None:
    """Unknown things are normal: they are printed."""
    data = BASE | {
        "amount": 100,
        "risk_score": 7,
        "first_seen": "2026-10-01T09:00:00Z",
        "tip_amount": 50,
        "nothing": None,
        "tags": ["a", "b"],
        "shipping": {"country": "DE", "door_code": "12#"},
        "routing": {"acquirer": "eu_2", "hops": [{"n": 1, "via": "x"}]},
    }
    out = printed("human").one(data)
    assert (
        "\n" + out
        == """
Order  ord_1

  Amount      1.00 EUR
  Ship to     DE, door_code 12#
  risk_score  7
  first_seen  2026-10-01 11:00:00 +02:00  2 hours ago
  tip_amount  0.50 EUR
  tags        a, b

  routing
    acquirer  eu_2

    hops
      N  VIA
      1  x
"""
    )


def test_unknown_columns_of_a_nested_list_are_shown(printed: Any) -> None:
    """A new field of an item gets a column."""
    items = [{"name": "Belt", "quantity": 1, "unit_amount": 100, "colour": "red"}]
    out = printed("human").one(BASE | {"items": items})
    assert "NAME  QTY      UNIT  COLOUR\n" in out
    assert "Belt    1  1.00 EUR  red\n" in out


def test_unknown_kind_is_shown_by_its_own_names(printed: Any) -> None:
    """An object that this version does not know reads like any other."""
    data = {
        "id": "tr_1",
        "object": "transfer_reversal",
        "livemode": False,
        "status": "pending",
        "amount": 1000,
        "currency": "JPY",
        "created": "2026-10-01T10:00:00Z",
    }
    assert (
        "\n" + printed("human").one(data)
        == """
Transfer reversal  tr_1  pending  test mode

  amount   1,000 JPY
  created  2026-10-01 12:00:00 +02:00  1 hour ago
"""
    )
    assert (
        "\n" + printed("human").page(data)
        == """
ID    OBJECT            LIVEMODE  STATUS      AMOUNT  CURRENCY  CREATED
tr_1  transfer_revers…  no        pending  1,000 JPY  JPY       2026-10-01 12:00
"""
    )


@pytest.mark.parametrize(
    ("field", "value", "shown"),
    [
        ("amount", "129.00", "Amount  129.00"),
        ("amount", True, "Amount  yes"),
        ("amount", 1.5, "Amount  1.5"),
        ("amount", Decimal("1.50"), "Amount  1.50"),
        ("amount", {"value": 1}, 'Amount  {"value":1}'),
        ("created", "yesterday", "Created  yesterday"),
        ("created", 1790000000, "Created  1790000000"),
        ("created", "9999-99-99T99:99:99Z", "Created  9999-99-99T99:99:99Z"),
        ("created", "0001-01-01T00:00:00+23:59", "Created  0001-01-01T00:00:00+23:59"),
        ("shipping", "Berlin", "Ship to  Berlin"),
        ("methods", "card", "Methods  card"),
        ("metadata", "text", "text"),
        ("items", [1, 2], "1, 2"),
        ("items", {"name": "x"}, "name  x"),
        ("status", 3, "Order  ord_1  3"),
        ("livemode", "maybe", "livemode  maybe"),
    ],
)
def test_value_of_another_type_is_shown_as_it_is(
    printed: Any, field: str, value: object, shown: str
) -> None:
    """Nothing fails to print because the real service differs."""
    assert shown in lines_of(printed("human").one(BASE | {field: value}))


@pytest.mark.parametrize("data", [{}, [], [{}], [[]], "", 0, None, [None], [{}, 1], {"object": 1}])
@pytest.mark.parametrize("form", ["human", "json", "ndjson", "csv", "id"])
def test_every_shape_of_result_can_be_printed(printed: Any, form: str, data: object) -> None:
    """A query can give anything; JSON gives it back."""
    out = printed(form, 40).value(data)
    assert out.endswith("\n") or form in ("id", "ndjson", "csv")
    if form == "json":
        assert json.loads(out) == data


def test_currency_that_nobody_knows_is_marked(printed: Any) -> None:
    """Decimals are never guessed."""
    out = printed("human", 100).one({"object": "order", "amount": 15708, "currency": "XXQ"})
    assert "15708 XXQ (minor units, unknown currency)" in out
    assert "15,708 (minor units)" in printed("human").one({"object": "order", "amount": 15708})


def test_total_is_never_computed(printed: Any, samples: Any) -> None:
    """Without `amount_total` a list shows `amount`, and a block both parts."""
    order = samples["order"]
    del order["amount_total"]
    assert "129.00 EUR" in printed("human", 80).page(order)
    assert "157.08" not in printed("human", 200).one(order) + printed("human", 200).page(order)


def test_live_mode_stands_in_the_title(printed: Any, samples: Any) -> None:
    """One sees at once which mode an object is of."""
    for live, words in ((True, "live mode"), (False, "test mode")):
        title = printed("human").one(samples["refund"] | {"livemode": live}).splitlines()[0]
        assert title.endswith(words)


def test_our_own_results_read_as_words(printed: Any) -> None:
    """Names of our own fields become labels; lists become tables."""
    data = {
        "profile": "default",
        "base_url": "http://127.0.0.1:4242",
        "reachable": True,
        "age": None,
    }
    assert printed("human").value(data) == (
        "Profile    default\nBase URL   http://127.0.0.1:4242\nReachable  yes\nAge        none\n"
    )
    rows = [
        {"id": "op_1", "outcome": "unknown", "attempts": 3},
        {"id": "op_22", "outcome": "done", "attempts": 12},
    ]
    assert (
        "\n" + printed("human").value(rows)
        == """
ID     OUTCOME  ATTEMPTS
op_1   unknown         3
op_22  done           12
"""
    )
    assert (
        "\n" + printed("human", 20).value(rows)
        == """
op_1
  Outcome   unknown
  Attempts  3

op_22
  Outcome   done
  Attempts  12
"""
    )


def test_fields_choose_columns_and_lines(printed: Any, samples: Any) -> None:
    """--fields takes known paths with their money, and any others by their own name."""
    fields = ("id", "landed_cost.duty", "items[0].unit_amount", "metadata.ref", "shipping[country]")
    order = samples["order"]
    assert (
        "\n" + printed("human", 100, fields=fields).page(order)
        == """
ID                                DUTY        UNIT  METADATA.REF  TO
ord_3kPq0aVb7cXd9eYf1gZh2iWj  3.00 EUR  129.00 EUR  A-1001        DE
"""
    )
    assert (
        "\n" + printed("human", 100, fields=("id", "status", "nope")).one(order)
        == """
ID      ord_3kPq0aVb7cXd9eYf1gZh2iWj
Status  requires_payment
nope    none
"""
    )


def test_asked_columns_are_never_dropped(printed: Any, samples: Any) -> None:
    """Where they do not fit side by side they stand under each other."""
    out = printed("human", 30, fields=("id", "capture_method", "amount")).page(samples["order"])
    assert (
        "\n" + out
        == """
ord_3kPq0aVb7cXd9eYf1gZh2iWj
  Capture  automatic
  Amount   129.00 EUR
"""
    )


def test_times_are_local_and_utc_on_demand(printed: Any, samples: Any) -> None:
    """The offset is always said."""
    event = samples["event"]
    assert "2026-10-01 12:59:40 +02:00  just now" in printed("human").one(event)
    assert "2026-10-01 10:59:40 UTC  just now" in printed("human", utc=True).one(event)
    assert "2026-10-01 12:59\n" in printed("human").page(event)
    assert "2026-10-01 10:59Z\n" in printed("human", utc=True).page(event)


@pytest.mark.parametrize(
    ("created", "hint"),
    [
        ("2026-10-01T11:00:00Z", "just now"),
        ("2026-10-01T11:00:30Z", "in less than a minute"),
        ("2026-10-01T10:59:00Z", "1 minute ago"),
        ("2026-10-01T11:59:59Z", "in 1 hour"),
        ("2026-10-01T11:59:20Z", "in 59 minutes"),
        ("2026-10-01T10:58:31Z", "1 minute ago"),
        ("2026-10-08T10:59:58Z", "in 7 days"),
        ("2026-10-02T10:45:00Z", "in 1 day"),
        ("2026-10-31T10:59:00Z", "in 1 month"),
        ("2026-10-30T22:59:59Z", "in 29 days"),
        ("2026-10-30T23:00:00Z", "in 1 month"),
        ("2027-09-16T10:59:59Z", "in 12 months"),
        ("2027-09-16T11:00:00Z", "in 1 year"),
        ("2026-10-01T09:00:00Z", "2 hours ago"),
        ("2026-10-03T11:00:00Z", "in 2 days"),
        ("2026-08-01T11:00:00Z", "2 months ago"),
        ("2028-10-01T11:00:00Z", "in 2 years"),
        ("2026-10-01T13:00:00+02:00", "just now"),
    ],
)
def test_times_say_how_far_away_they_are(printed: Any, created: str, hint: str) -> None:
    """A hint follows the time where there is room, and is rounded to the nearest."""
    data = {"object": "order", "created": created}
    assert printed("human").one(data).endswith(f"  {hint}\n")
    assert hint not in printed("human", 44).one(data)


MEANT = {
    "32": "paid captured succeeded won enabled active guaranteed done verified order.paid",
    "36": "requires_payment processing pending created sent authorized under_review "
    "evidence_submitted submitted draft",
    "1;35": "needs_response opened unknown unresolved suspended dispute.opened",
    "1;31": "failed lost disabled refused",
    "2": "cancelled none not_sent",
    "": "never_seen",
}


@pytest.mark.parametrize("code", MEANT)
def test_status_is_coloured_by_its_meaning(printed: Any, code: str) -> None:
    """Good, bad, waiting and needing attention differ; unknown words have no colour."""
    for word in MEANT[code].split():
        out = printed("human", color=True).one({"object": "order", "status": word})
        found = re.search(rf"\x1b\[([0-9;]+)m{re.escape(word)}", out)
        assert (found[1] if found else "") == code, word


@pytest.mark.parametrize("width", [49, 50])
def test_findings_are_coloured_by_their_verdicts(printed: Any, width: int) -> None:
    """Beside their names where a text has 30 columns, else below them."""
    verdicts = {
        "32": "ok passed",
        "1;35": "warning advice due unknown",
        "1;31": "failed overdue",
        "2": "skipped sandbox",
        "": "new_word",
    }
    text = "a text of thirty columns, full"
    told = [(code, word) for code, words in verdicts.items() for word in words.split()]
    output = printed("human", width, color=True)
    output.output.checkup(
        [{"status": word, "name": "the name", "detail": text, "fix": None} for _, word in told]
    )
    lines = output.out.splitlines()
    for line, (code, word) in zip(lines[:: 51 - width], told, strict=True):
        assert line.startswith(f"\x1b[{code}m{word}" if code else word)
        assert line.endswith(f"\x1b[1mthe name\x1b[0m{f'  {text}' if width == 50 else ''}")
    assert width == 50 or lines[1::2] == [f"  {text}"] * len(told)


def test_no_escape_byte_without_color(printed: Any, samples: Any) -> None:
    """NO_COLOR, TERM=dumb and pipes get plain text (R75)."""
    for data in samples.values():
        assert "\x1b" not in printed("human").one(data) + printed("human").page(data)


def test_color_changes_nothing_but_color(printed: Any, samples: Any) -> None:
    """The words and their places are the same with and without colour."""
    for data in samples.values():
        for width in (20, 40, 80, 200):
            colored = printed("human", width, color=True).one(data)
            assert re.sub(r"\x1b\[[0-9;]*m", "", colored) == printed("human", width).one(data)


def test_deep_nesting_ends_in_json(printed: Any) -> None:
    """A hundred levels do not push the text off the screen."""
    data: dict[str, Any] = {"end": 1}
    for _ in range(100):
        data = {"in": data}
    out = printed("human").one({"object": "order", "deep": data})
    assert '"end":1' in "".join(out.split())
    assert max(line.find(line.strip()[:1]) for line in out.splitlines() if line) < 20


def test_several_lines_of_text_stay_inside_their_field(printed: Any) -> None:
    """A text cannot pretend to be another field of the block, or a row of a table."""
    text = "first\nStatus  paid\nRequest id: x"
    out = printed("human").one({"object": "dispute", "evidence": {"receipt": text}})
    assert all(line.startswith("    ") for line in out.splitlines()[3:])
    row = printed("human").page({"object": "payout", "id": "po_1", "reference": text})
    assert len(row.splitlines()) == 2
    assert "first\\u{a}Status" in row


@pytest.mark.parametrize(
    ("text", "shown", "more"),
    [
        ("line\n" * 20_000, "line\n" * 10_000, "50,001 more characters"),
        ("a" * (1024 * 1024 + 7), "a" * 1024 * 1024 + "\n", "7 more characters"),
        ("line\n" * 9_999, "line\n" * 9_999, ""),
    ],
    ids=["lines", "characters", "whole"],
)
def test_a_text_that_nobody_reads_to_its_end_is_cut(
    printed: Any, text: str, shown: str, more: str
) -> None:
    """R99: each line takes memory of its own; what is left out is said, and how to have it."""
    out = printed("human", 80).value(text)
    assert out.startswith(shown)
    assert out[len(shown) :].strip() == (f"... {more}: -o json" if more else "")
