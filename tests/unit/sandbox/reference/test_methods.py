"""Which payment methods an order offers."""

from functools import cache

import pytest
from hypothesis import given
from hypothesis import strategies as st

from svc.sandbox.reference import fx, methods
from svc.service.facts import COUNTRIES, EU_COUNTRIES

EU = " ".join(sorted(EU_COUNTRIES))
TABLE = [
    ("sepa_debit", "delayed", "EUR", f"{EU} NO IS LI CH GB MC SM"),
    ("bacs_debit", "delayed", "GBP", "GB"),
    ("us_bank_account", "delayed", "USD", "US"),
    ("becs_debit", "delayed", "AUD", "AU"),
    ("ideal", "redirect", "EUR", "NL"),
    ("bancontact", "redirect", "EUR", "BE"),
    ("eps", "redirect", "EUR", "AT"),
    ("multibanco", "redirect", "EUR", "PT"),
    ("mb_way", "redirect", "EUR", "PT"),
    ("bizum", "redirect", "EUR", "ES"),
    ("p24", "redirect", "PLN EUR", "PL"),
    ("blik", "redirect", "PLN", "PL"),
    ("twint", "redirect", "CHF", "CH"),
    ("swish", "redirect", "SEK", "SE"),
    ("vipps", "redirect", "NOK", "NO"),
    ("mobilepay", "redirect", "DKK EUR", "DK FI"),
    ("payto", "redirect", "AUD", "AU"),
    ("interac", "redirect", "CAD", "CA"),
    ("konbini", "redirect", "JPY", "JP"),
    ("paypay", "redirect", "JPY", "JP"),
    ("alipay", "redirect", "CNY USD EUR", "CN"),
    ("wechat_pay", "redirect", "CNY USD EUR", "CN"),
    ("kakao_pay", "redirect", "KRW", "KR"),
    ("paynow", "redirect", "SGD", "SG"),
    ("promptpay", "redirect", "THB", "TH"),
    ("fpx", "redirect", "MYR", "MY"),
    ("upi", "redirect", "INR", "IN"),
    ("pix", "redirect", "BRL", "BR"),
    ("oxxo", "redirect", "MXN", "MX"),
    ("knet", "redirect", "KWD", "KW"),
    ("benefit", "redirect", "BHD", "BH"),
    (
        "klarna",
        "redirect",
        "EUR GBP USD SEK NOK DKK CHF PLN",
        "DE AT NL BE FR ES IT IE FI PT GB US SE NO DK CH PL",
    ),
    ("paypal", "redirect", "EUR GBP USD AUD CAD JPY CHF PLN SEK NOK DKK", " ".join(COUNTRIES)),
]
# Each language of the checkout and the shipping countries that get it; all others get English.
LANGUAGES = [
    ("ar", "KW"),
    ("bg", "BG"),
    ("cs", "CZ"),
    ("da", "DK"),
    ("de", "AT CH DE LI"),
    ("el", "CY GR"),
    ("es", "ES MX"),
    ("et", "EE"),
    ("fi", "FI"),
    ("fr", "FR LU MC"),
    ("he", "IL"),
    ("hr", "HR"),
    ("hu", "HU"),
    ("id", "ID"),
    ("is", "IS"),
    ("it", "IT SM"),
    ("ja", "JP"),
    ("ko", "KR"),
    ("lt", "LT"),
    ("lv", "LV"),
    ("ms", "MY"),
    ("nb", "NO"),
    ("nl", "BE NL"),
    ("pl", "PL"),
    ("pt", "BR PT"),
    ("ro", "RO"),
    ("sk", "SK"),
    ("sl", "SI"),
    ("sv", "SE"),
    ("th", "TH"),
    ("tr", "TR"),
    ("vi", "VN"),
    ("zh", "CN HK TW"),
]
CURRENCIES = sorted(fx.USD_PER_UNIT)


@cache
def offered() -> dict[tuple[str, str], list[str]]:
    """The methods for each currency in each country."""
    return {
        (money, land): methods.list_methods(money, land, "automatic")
        for money in CURRENCIES
        for land in COUNTRIES
    }


@pytest.mark.parametrize(
    ("name", "kind", "currencies", "countries"), TABLE, ids=[row[0] for row in TABLE]
)
def test_method_is_offered_exactly_where_the_table_says(
    name: str, kind: str, currencies: str, countries: str
) -> None:
    """A method is in `order.methods` for its currencies and countries and nowhere else."""
    expected = {(money, land) for money in currencies.split() for land in countries.split()}
    assert {place for place, names in offered().items() if name in names} == expected
    assert methods.kind(name) == kind


def test_card_is_offered_first_and_everywhere() -> None:
    """`card` heads every list."""
    assert methods.kind("card") == "card"
    for country in COUNTRIES:
        assert methods.list_methods("ZAR", country, "automatic") == ["card"]


@pytest.mark.parametrize(
    ("currency", "country", "capture", "expected"),
    [
        ("EUR", "DE", "automatic", ["card", "sepa_debit", "klarna", "paypal"]),
        ("EUR", "DE", "manual", ["card", "klarna", "paypal"]),
        (
            "EUR",
            "PT",
            "automatic",
            ["card", "sepa_debit", "multibanco", "mb_way", "klarna", "paypal"],
        ),
        ("EUR", "PL", "automatic", ["card", "sepa_debit", "p24", "klarna", "paypal"]),
        ("PLN", "PL", "automatic", ["card", "p24", "blik", "klarna", "paypal"]),
        ("EUR", "CN", "automatic", ["card", "alipay", "wechat_pay", "paypal"]),
        ("JPY", "JP", "manual", ["card", "paypal"]),
        ("INR", "IN", "manual", ["card"]),
    ],
)
def test_methods_come_in_the_order_of_the_table(
    currency: str, country: str, capture: str, expected: list[str]
) -> None:
    """Card, then delayed debits, then redirects, then those that also capture manually."""
    assert methods.list_methods(currency, country, capture) == expected


@given(st.sampled_from(CURRENCIES), st.sampled_from(sorted(COUNTRIES)))
def test_manual_capture_offers_only_what_can_be_held(currency: str, country: str) -> None:
    """A manual order offers card, klarna and paypal at most, each also offered otherwise."""
    manual = methods.list_methods(currency, country, "manual")
    automatic = methods.list_methods(currency, country, "automatic")
    assert set(manual) <= {"card", "klarna", "paypal"}
    assert manual == [name for name in automatic if name in manual]


def test_unknown_method_has_no_kind() -> None:
    """Asking for the kind of a name that is no method is an error."""
    with pytest.raises(KeyError):
        methods.kind("cheque")


@pytest.mark.parametrize(
    ("country", "tag"), [("DE", "de-DE"), ("JP", "ja-JP"), ("US", "en-US"), ("NG", "en-NG")]
)
def test_checkout_speaks_the_language_of_the_country(country: str, tag: str) -> None:
    """The checkout's language follows the shipping country, English where none is listed."""
    assert methods.locale(country) == tag


def test_every_country_has_the_locale_of_its_language() -> None:
    """A country has the language of its row, every other one has English, and a tag is whole."""
    spoken = {country: language for language, row in LANGUAGES for country in row.split()}
    wanted = {country: f"{spoken.get(country, 'en')}-{country}" for country in COUNTRIES}
    assert {country: methods.locale(country) for country in COUNTRIES} == wanted
    assert set(spoken) <= COUNTRIES
