"""What first-time users misread: empty columns, rates that contradict, values that are not there."""

from typing import Any

import pytest

from svc.inputs import Format
from svc.render.human.columns import label_of


@pytest.mark.parametrize("form", ["human", "csv"])
@pytest.mark.parametrize("how", ["page", "stream", "one"])
def test_unknown_field_is_said_to_be_unknown(
    printed: Any, samples: Any, form: Format, how: str
) -> None:
    """A mistyped name is no silent empty column, and no error either."""
    output = printed(form, 2000, fields=("id", "nope"))
    order = samples["order"]
    if how == "stream":
        output.stream([order])
    else:
        getattr(output, how)(order)
    assert order["id"] in output.out
    assert output.err.startswith("Warning: No object has the field nope; fields are: id, object, ")
    assert output.err.count("\n") == 1


@pytest.mark.parametrize("form", ["human", "csv"])
@pytest.mark.parametrize(
    "names",
    [
        ("id", "latest_payment"),
        ("shipping.country", "items.3.name", "items[0][name]"),
        ("landed_cost.duty", "landed_cost"),
        ("metadata.ref", "novel"),
    ],
)
def test_known_fields_are_not_warned_about(
    printed: Any, samples: Any, form: Format, names: tuple[str, ...]
) -> None:
    """A field is known when one object of the page has it, null too, or its kind can have it."""
    plain = samples["order"] | {"landed_cost": None}
    output = printed(form, 2000, fields=names)
    output.stream([plain, samples["order"] | {"novel": None}])
    assert output.err == ""


@pytest.mark.parametrize("form", ["human", "csv"])
def test_empty_list_has_no_unknown_field(printed: Any, form: Format) -> None:
    """Where nothing was found nobody can tell."""
    output = printed(form, fields=("nope",))
    output.page()
    assert output.err == ""


@pytest.mark.parametrize(
    ("duty", "bps", "said"),
    [(300, 0, "flat"), (0, 0, "0%"), (300, 1250, "12.5%"), (300, 375, "3.75%"), (300, 1, "0.01%")],
)
def test_rate_does_not_contradict_the_duty(
    printed: Any, samples: Any, duty: int, bps: int, said: str
) -> None:
    """A duty with a rate of nothing is a flat one."""
    quote = samples["quote"]
    quote["items"] = [quote["items"][0] | {"duty": duty, "duty_rate_bps": bps}]
    row = printed("human", 120).one(quote).rpartition("RATE\n")[2].splitlines()[0]
    assert row.split()[-1] == said


def test_payment_without_settlement_shows_none_of_it(printed: Any, samples: Any) -> None:
    """An authorised payment has no settlement yet: no row says so."""
    empty = {"settlement_currency": None, "settlement_amount": None, "novel": None}
    out = printed("human").one(samples["payment"] | empty)
    assert "settlement" not in out.lower()
    assert "none" not in out


def test_setting_without_a_value_is_shown(printed: Any) -> None:
    """Our own settings say that they can be set."""
    out = printed("human").value({"output": None, "profiles": {"shop": {"ca_bundle": None}}})
    assert "Output  none\n" in out
    assert "CA bundle  none\n" in out


@pytest.mark.parametrize(
    ("key", "label"),
    [
        *(("ca_bundle", "CA bundle"), ("base_url", "Base URL")),
        *(("key_age_days", "Key age (days)"), ("seconds", "Seconds")),
        *(("pid", "PID"), ("api_version", "API version"), ("csv_of_tls", "CSV of TLS")),
        *(("http_or_https", "HTTP or HTTPS"), ("iban_id", "IBAN ID"), ("ip_in_utc", "IP in UTC")),
        *(("fx_url", "FX URL"), ("hs_vat", "HS VAT"), ("json_days", "JSON (days)")),
        *(("free_bytes", "Free (bytes)"), ("a_\x1b", "A \\u{1b}")),
    ],
)
def test_label_reads_as_words(key: str, label: str) -> None:
    """Abbreviations are capitals, and a unit stands in brackets."""
    assert label_of(key) == label
