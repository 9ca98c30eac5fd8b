"""Which payment methods an order offers, and how each behaves."""

from dataclasses import dataclass
from typing import Final, Literal

from svc.spec import EU_COUNTRIES

Kind = Literal["card", "delayed", "redirect"]


@dataclass(frozen=True, slots=True)
class Method:
    """A method, the currencies it takes and the shipping countries it is offered in.

    `countries` None means any country. `manual` says whether it can be authorised first and
    captured later.
    """

    name: str
    kind: Kind
    currencies: frozenset[str]
    countries: frozenset[str] | None
    manual: bool = False


def _codes(text: str) -> frozenset[str]:
    return frozenset(text.split())


def _method(name: str, kind: Kind, currencies: str, countries: str) -> Method:
    return Method(name, kind, _codes(currencies), _codes(countries))


CARD: Final = "card"
_SEPA: Final = EU_COUNTRIES | _codes("NO IS LI CH GB MC SM")
_KLARNA_CURRENCIES: Final = _codes("EUR GBP USD SEK NOK DKK CHF PLN")
_KLARNA_COUNTRIES: Final = _codes("DE AT NL BE FR ES IT IE FI PT GB US SE NO DK CH PL")
_PAYPAL_CURRENCIES: Final = _codes("EUR GBP USD AUD CAD JPY CHF PLN SEK NOK DKK")

# In the order in which `order.methods` lists them, after `card`.
METHODS: Final = (
    Method("sepa_debit", "delayed", _codes("EUR"), _SEPA),
    _method("bacs_debit", "delayed", "GBP", "GB"),
    _method("us_bank_account", "delayed", "USD", "US"),
    _method("becs_debit", "delayed", "AUD", "AU"),
    _method("ideal", "redirect", "EUR", "NL"),
    _method("bancontact", "redirect", "EUR", "BE"),
    _method("eps", "redirect", "EUR", "AT"),
    _method("multibanco", "redirect", "EUR", "PT"),
    _method("mb_way", "redirect", "EUR", "PT"),
    _method("bizum", "redirect", "EUR", "ES"),
    _method("p24", "redirect", "PLN EUR", "PL"),
    _method("blik", "redirect", "PLN", "PL"),
    _method("twint", "redirect", "CHF", "CH"),
    _method("swish", "redirect", "SEK", "SE"),
    _method("vipps", "redirect", "NOK", "NO"),
    _method("mobilepay", "redirect", "DKK EUR", "DK FI"),
    _method("payto", "redirect", "AUD", "AU"),
    _method("interac", "redirect", "CAD", "CA"),
    _method("konbini", "redirect", "JPY", "JP"),
    _method("paypay", "redirect", "JPY", "JP"),
    _method("alipay", "redirect", "CNY USD EUR", "CN"),
    _method("wechat_pay", "redirect", "CNY USD EUR", "CN"),
    _method("kakao_pay", "redirect", "KRW", "KR"),
    _method("paynow", "redirect", "SGD", "SG"),
    _method("promptpay", "redirect", "THB", "TH"),
    _method("fpx", "redirect", "MYR", "MY"),
    _method("upi", "redirect", "INR", "IN"),
    _method("pix", "redirect", "BRL", "BR"),
    _method("oxxo", "redirect", "MXN", "MX"),
    _method("knet", "redirect", "KWD", "KW"),
    _method("benefit", "redirect", "BHD", "BH"),
    Method("klarna", "redirect", _KLARNA_CURRENCIES, _KLARNA_COUNTRIES, manual=True),
    Method("paypal", "redirect", _PAYPAL_CURRENCIES, None, manual=True),
)

_KINDS: Final[dict[str, Kind]] = {CARD: "card", **{m.name: m.kind for m in METHODS}}

# The language of the checkout by shipping country (spec: What the service does, 2).
_LANGUAGES: Final = {
    "AT": "de",
    "BE": "nl",
    "BG": "bg",
    "BR": "pt",
    "CH": "de",
    "CN": "zh",
    "CY": "el",
    "CZ": "cs",
    "DE": "de",
    "DK": "da",
    "EE": "et",
    "ES": "es",
    "FI": "fi",
    "FR": "fr",
    "GR": "el",
    "HK": "zh",
    "HR": "hr",
    "HU": "hu",
    "ID": "id",
    "IL": "he",
    "IS": "is",
    "IT": "it",
    "JP": "ja",
    "KR": "ko",
    "KW": "ar",
    "LI": "de",
    "LT": "lt",
    "LU": "fr",
    "LV": "lv",
    "MC": "fr",
    "MX": "es",
    "MY": "ms",
    "NL": "nl",
    "NO": "nb",
    "PL": "pl",
    "PT": "pt",
    "RO": "ro",
    "SE": "sv",
    "SI": "sl",
    "SK": "sk",
    "SM": "it",
    "TH": "th",
    "TR": "tr",
    "TW": "zh",
    "VN": "vi",
}


def offered(currency: str, country: str, capture_method: str) -> list[str]:
    """Lists the methods of an order by its currency, shipping country and way of capture."""
    names = [CARD]
    names += [m.name for m in METHODS if _fits(m, currency, country, capture_method)]
    return names


def kind(method: str) -> Kind:
    """Says how a method behaves: at once by card, later by bank debit, or by redirect.

    Raises KeyError for a name that is no method; callers offer before they ask.
    """
    return _KINDS[method]


def locale(country: str) -> str:
    """Gives the checkout's language for a shipping country as a BCP 47 tag, such as `de-DE`."""
    return f"{_LANGUAGES.get(country, 'en')}-{country}"


def _fits(method: Method, currency: str, country: str, capture_method: str) -> bool:
    if capture_method == "manual" and not method.manual:
        return False
    in_country = method.countries is None or country in method.countries
    return in_country and currency in method.currencies
