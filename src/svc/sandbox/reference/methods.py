"""Which payment methods an order offers, and how each behaves.

`resources.orders` lists them for a new or changed order; `resources.shopper` and the checkout ask
for a method's behaviour (`kind`), and the checkout and `cli` for names and languages.
"""

from dataclasses import dataclass
from functools import lru_cache
from typing import Final, Literal

from svc.service.facts import EU_COUNTRIES

MethodKind = Literal["card", "delayed", "redirect"]


@dataclass(frozen=True, slots=True)
class PaymentMethod:
    """A method, the currencies it takes and the shipping countries it is offered in.

    `countries` None means any country. `brand` is what people call it in every language, if there
    is such a name. `manual` says whether it can be authorised first and captured later.
    """

    name: str
    kind: MethodKind
    currencies: frozenset[str]
    countries: frozenset[str] | None
    brand: str = ""
    manual: bool = False


def _codes(text: str) -> frozenset[str]:
    return frozenset(text.split())


def _method(
    name: str, kind: MethodKind, currencies: str, countries: str, brand: str = ""
) -> PaymentMethod:
    return PaymentMethod(name, kind, _codes(currencies), _codes(countries), brand)


CARD: Final = "card"
_SEPA: Final = EU_COUNTRIES | _codes("NO IS LI CH GB MC SM")
_KLARNA_CURRENCIES: Final = _codes("EUR GBP USD SEK NOK DKK CHF PLN")
_KLARNA_COUNTRIES: Final = _codes("DE AT NL BE FR ES IT IE FI PT GB US SE NO DK CH PL")
_PAYPAL_CURRENCIES: Final = _codes("EUR GBP USD AUD CAD JPY CHF PLN SEK NOK DKK")

# In the order in which `order.methods` lists them, after `card`.
METHODS: Final = (
    PaymentMethod("sepa_debit", "delayed", _codes("EUR"), _SEPA),
    _method("bacs_debit", "delayed", "GBP", "GB"),
    _method("us_bank_account", "delayed", "USD", "US"),
    _method("becs_debit", "delayed", "AUD", "AU"),
    _method("ideal", "redirect", "EUR", "NL", "iDEAL"),
    _method("bancontact", "redirect", "EUR", "BE", "Bancontact"),
    _method("eps", "redirect", "EUR", "AT", "eps"),
    _method("multibanco", "redirect", "EUR", "PT", "Multibanco"),
    _method("mb_way", "redirect", "EUR", "PT", "MB WAY"),
    _method("bizum", "redirect", "EUR", "ES", "Bizum"),
    _method("p24", "redirect", "PLN EUR", "PL", "Przelewy24"),
    _method("blik", "redirect", "PLN", "PL", "BLIK"),
    _method("twint", "redirect", "CHF", "CH", "TWINT"),
    _method("swish", "redirect", "SEK", "SE", "Swish"),
    _method("vipps", "redirect", "NOK", "NO", "Vipps"),
    _method("mobilepay", "redirect", "DKK EUR", "DK FI", "MobilePay"),
    _method("payto", "redirect", "AUD", "AU", "PayTo"),
    _method("interac", "redirect", "CAD", "CA", "Interac"),
    _method("konbini", "redirect", "JPY", "JP"),
    _method("paypay", "redirect", "JPY", "JP", "PayPay"),
    _method("alipay", "redirect", "CNY USD EUR", "CN", "Alipay"),
    _method("wechat_pay", "redirect", "CNY USD EUR", "CN", "WeChat Pay"),
    _method("kakao_pay", "redirect", "KRW", "KR", "Kakao Pay"),
    _method("paynow", "redirect", "SGD", "SG", "PayNow"),
    _method("promptpay", "redirect", "THB", "TH", "PromptPay"),
    _method("fpx", "redirect", "MYR", "MY", "FPX"),
    _method("upi", "redirect", "INR", "IN", "UPI"),
    _method("pix", "redirect", "BRL", "BR", "Pix"),
    _method("oxxo", "redirect", "MXN", "MX", "OXXO"),
    _method("knet", "redirect", "KWD", "KW", "KNET"),
    _method("benefit", "redirect", "BHD", "BH", "BenefitPay"),
    PaymentMethod(
        "klarna", "redirect", _KLARNA_CURRENCIES, _KLARNA_COUNTRIES, "Klarna", manual=True
    ),
    PaymentMethod("paypal", "redirect", _PAYPAL_CURRENCIES, None, "PayPal", manual=True),
)

# Paid at a shop or a machine with a slip that the shopper is given.
VOUCHERS: Final = frozenset({"konbini", "multibanco", "oxxo"})
BRANDS: Final = {m.name: m.brand for m in METHODS if m.brand}
_KINDS: Final[dict[str, MethodKind]] = {CARD: "card", **{m.name: m.kind for m in METHODS}}

# The language of the checkout and its shipping country (spec: What the service does, 2).
_LOCALES: Final = {
    tag[3:]: tag
    for tag in (
        "de-AT nl-BE bg-BG pt-BR de-CH zh-CN el-CY cs-CZ de-DE da-DK et-EE es-ES fi-FI fr-FR "
        "el-GR zh-HK hr-HR hu-HU id-ID he-IL is-IS it-IT ja-JP ko-KR ar-KW de-LI lt-LT fr-LU "
        "lv-LV fr-MC es-MX ms-MY nl-NL nb-NO pl-PL pt-PT ro-RO sv-SE sl-SI sk-SK it-SM th-TH "
        "tr-TR zh-TW vi-VN"
    ).split()
}


def list_methods(currency: str, country: str, capture_method: str) -> list[str]:
    """Lists the methods of an order by its currency, shipping country and way of capture."""
    return [CARD, *_list_besides_card(currency, country, capture_method)]


def kind(method: str) -> MethodKind:
    """Returns how a method behaves: at once by card, later by bank debit, or by redirect.

    Raises KeyError for a name that is no method; callers offer before they ask.
    """
    return _KINDS[method]


def locale(country: str) -> str:
    """Returns the checkout's language for a shipping country as a BCP 47 tag, such as `de-DE`."""
    return _LOCALES.get(country, f"en-{country}")


@lru_cache
def _list_besides_card(currency: str, country: str, capture_method: str) -> tuple[str, ...]:
    return tuple(
        method.name
        for method in METHODS
        if currency in method.currencies
        and (method.countries is None or country in method.countries)
        and (method.manual or capture_method != "manual")
    )
