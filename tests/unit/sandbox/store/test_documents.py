"""Documents as bytes."""

import json

import pytest

from svc.sandbox.store.documents import compact


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
