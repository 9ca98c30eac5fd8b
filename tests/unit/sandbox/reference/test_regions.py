"""The acquirer of a smart retry (assumptions: Payment)."""

import pytest

from svc.sandbox.reference import cards
from svc.service.facts import COUNTRIES, EU_COUNTRIES


@pytest.mark.parametrize(
    ("countries", "acquirer"),
    [
        ("DE GB CH NO UA IS", "sandbox_eu_2"),
        ("US CA BR MX AR PR", "sandbox_am_2"),
        ("JP AU SG IN KR NZ TH", "sandbox_ap_2"),
        ("ZA NG AE IL TR SA KZ AQ", "sandbox_row_2"),
    ],
)
def test_acquirer_is_that_of_the_region(countries: str, acquirer: str) -> None:
    """Each region has its second acquirer."""
    assert {cards.acquirer(country) for country in countries.split()} == {acquirer}


def test_every_member_of_the_eu_is_in_europe() -> None:
    """The EU is in the European region."""
    assert {cards.acquirer(country) for country in EU_COUNTRIES} == {"sandbox_eu_2"}


def test_regions_hold_assigned_countries_once() -> None:
    """No country is in two regions, and every code in a region is assigned."""
    everywhere = [*cards.EUROPE, *cards.AMERICAS, *cards.ASIA_PACIFIC]
    assert len(everywhere) == len(set(everywhere))
    assert set(everywhere) <= COUNTRIES
