"""Which payment methods an order offers."""

from functools import cache

import pytest

from svc.sandbox.reference import fx, methods
from svc.service.facts import COUNTRIES, EU_COUNTRIES

EU = " ".join(sorted(EU_COUNTRIES))
TABLE = [
    ("sepa_debit", "delayed", "EUR", f"{EU} NO IS LI CH GB MC SM", ""),
    ("bacs_debit", "delayed", "GBP", "GB", ""),
    ("us_bank_account", "delayed", "USD", "US", ""),
    ("becs_debit", "delayed", "AUD", "AU", ""),
    ("ideal", "redirect", "EUR", "NL", "iDEAL"),
    ("bancontact", "redirect", "EUR", "BE", "Bancontact"),
    ("eps", "redirect", "EUR", "AT", "eps"),
    ("multibanco", "redirect", "EUR", "PT", "Multibanco"),
    ("mb_way", "redirect", "EUR", "PT", "MB WAY"),
    ("bizum", "redirect", "EUR", "ES", "Bizum"),
    ("p24", "redirect", "PLN EUR", "PL", "Przelewy24"),
    ("blik", "redirect", "PLN", "PL", "BLIK"),
    ("twint", "redirect", "CHF", "CH", "TWINT"),
    ("swish", "redirect", "SEK", "SE", "Swish"),
    ("vipps", "redirect", "NOK", "NO", "Vipps"),
    ("mobilepay", "redirect", "DKK EUR", "DK FI", "MobilePay"),
    ("payto", "redirect", "AUD", "AU", "PayTo"),
    ("interac", "redirect", "CAD", "CA", "Interac"),
    ("konbini", "redirect", "JPY", "JP", ""),
    ("paypay", "redirect", "JPY", "JP", "PayPay"),
    ("alipay", "redirect", "CNY USD EUR", "CN", "Alipay"),
    ("wechat_pay", "redirect", "CNY USD EUR", "CN", "WeChat Pay"),
    ("kakao_pay", "redirect", "KRW", "KR", "Kakao Pay"),
    ("paynow", "redirect", "SGD", "SG", "PayNow"),
    ("promptpay", "redirect", "THB", "TH", "PromptPay"),
    ("fpx", "redirect", "MYR", "MY", "FPX"),
    ("upi", "redirect", "INR", "IN", "UPI"),
    ("pix", "redirect", "BRL", "BR", "Pix"),
    ("oxxo", "redirect", "MXN", "MX", "OXXO"),
    ("knet", "redirect", "KWD", "KW", "KNET"),
    ("benefit", "redirect", "BHD", "BH", "BenefitPay"),
    (
        "klarna",
        "redirect",
        "EUR GBP USD SEK NOK DKK CHF PLN",
        "DE AT NL BE FR ES IT IE FI PT GB US SE NO DK CH PL",
        "Klarna",
    ),
    (
        "paypal",
        "redirect",
        "EUR GBP USD AUD CAD JPY CHF PLN SEK NOK DKK",
        " ".join(COUNTRIES),
        "PayPal",
    ),
]
# Each language of the checkout and the shipping countries that get it; all others get English.
LANGUAGES = """
ar KW, bg BG, cs CZ, da DK, de AT CH DE LI, el CY GR, es ES MX, et EE, fi FI, fr FR LU MC,
he IL, hr HR, hu HU, id ID, is IS, it IT SM, ja JP, ko KR, lt LT, lv LV, ms MY, nb NO, nl BE
NL, pl PL, pt BR PT, ro RO, sk SK, sl SI, sv SE, th TH, tr TR, vi VN, zh CN HK TW
"""
CURRENCIES = sorted(fx.USD_PER_UNIT)


@cache
def offered(capture: str) -> dict[tuple[str, str], list[str]]:
    """The methods for each currency in each country."""
    return {
        (money, land): methods.list_methods(money, land, capture)
        for money in CURRENCIES
        for land in COUNTRIES
    }


@pytest.mark.parametrize(
    ("name", "kind", "currencies", "countries", "brand"), TABLE, ids=[row[0] for row in TABLE]
)
def test_method_is_offered_exactly_where_the_table_says(
    name: str, kind: str, currencies: str, countries: str, brand: str
) -> None:
    """It is in `order.methods` for its currencies and countries and nowhere else; what it is called."""
    assert methods.BRANDS.get(name, "") == brand
    expected = {(money, land) for money in currencies.split() for land in countries.split()}
    assert {place for place, names in offered("automatic").items() if name in names} == expected
    held = {place for place, names in offered("manual").items() if name in names}
    assert held == (expected if name in ("klarna", "paypal") else set())  # what can be held
    assert methods.kind(name) == kind


def test_card_is_offered_first_and_everywhere() -> None:
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
        ("PLN", "PL", "automatic", ["card", "p24", "blik", "klarna", "paypal"]),
        ("EUR", "CN", "automatic", ["card", "alipay", "wechat_pay", "paypal"]),
    ],
)
def test_methods_come_in_the_order_of_the_table(
    currency: str, country: str, capture: str, expected: list[str]
) -> None:
    """Card, then delayed debits, then redirects, then those that also capture manually."""
    assert methods.list_methods(currency, country, capture) == expected


def test_unknown_method_has_no_kind() -> None:
    with pytest.raises(KeyError):
        methods.kind("cheque")


def test_every_country_has_the_locale_of_its_language() -> None:
    """A country has the language of its row, every other one has English, and a tag is whole."""
    rows = [row.split() for row in LANGUAGES.split(",")]
    spoken = {country: language for language, *row in rows for country in row}
    wanted = {country: f"{spoken.get(country, 'en')}-{country}" for country in COUNTRIES}
    assert {country: methods.locale(country) for country in COUNTRIES} == wanted
    assert set(spoken) <= COUNTRIES
