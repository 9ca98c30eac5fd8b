"""Parses the whole numbers of a request, in the same way for every source.

Options, `-d`, `--body`, cells of a CSV and lines of NDJSON all use it, so that they accept the same
values.

`fields` parses the numbers of a request's body with it, `cli` those of options, `batch.columns`
those of a CSV. Text such as `4,999` or `12.50` is refused, with the amount that was probably meant.
"""

from typing import Final

from svc.errors import UsageError
from svc.money import CURRENCIES, exponent, format_amount, parse_minor_units
from svc.service.facts import AMOUNT_MAX

_DIGITS_MAX: Final = len(str(AMOUNT_MAX))
_SHOWN_MAX: Final = 40
_EXAMPLE: Final = 12900


def parse_whole_number(
    value: object,
    name: str,
    *,
    minimum: int = 1,
    currency: str | None = None,
    is_text: bool,
    is_money: bool = True,
) -> int:
    """Parses a whole number (promise R98); an amount of money is in minor units of `currency`.

    `is_text` is whether `value` comes from where every number is text: an option, a form, a cell
    of a CSV. In JSON it is not, and a quoted number such as `"4999"` is refused.

    Raises:
        UsageError: the value is not spelled in plain ASCII digits, or is below `minimum` or above
            the largest amount; `param` is `name`, and the hint has the right number if it is
            unambiguous.
    """
    if type(value) is int and minimum <= value <= AMOUNT_MAX:
        return value  # what was read as one was spelled as one
    text = _spell_number(value)
    is_quoted = isinstance(value, str) and not is_text
    if text is None or (is_quoted and not _has_decimals(text)):
        hint = f"Write it without quotes; with -d: PATH:={text}" if _is_whole(text) else None
        raise _build_error(f"{name} {_show_value(value)} is not a number", name, hint)
    if not _is_whole(text):
        whole = without_zeros(text)
        hint = None if whole is None else f"Write {whole}"
        hint = _suggest_number(text, name, currency) if is_money else hint
        raise _build_error(f"{name} {_show_value(value)} is not a whole number", name, hint)
    if _is_long(text) or not minimum <= int(text) <= AMOUNT_MAX:
        raise _build_error(
            f"{name} {_truncate(text)} is not from {minimum} to {AMOUNT_MAX}", name, None
        )
    return int(text)


def amount_option(
    text: str | None, name: str, currency: str | None, *, minimum: int = 1
) -> int | None:
    """Parses the amount of an option; None stays None. Raises as `parse_whole_number`."""
    if text is None:
        return None
    return parse_whole_number(text, name, minimum=minimum, currency=currency, is_text=True)


def is_in_decimals(value: object, currency: str | None) -> bool:
    """Whether a value is an amount with decimals, such as `99.5`, and no whole number."""
    text = _spell_number(value)
    if text is None or _is_whole(text):
        return False
    return parse_minor_units(_with_point(text), currency) is not None


def read_answered_amount(value: object) -> int | None:
    """Reads an amount of an answer, spelled as `100`, `100.0` or `"100"`; None for other values.

    An answer that spells its amount in another way has moved it nevertheless.
    """
    if type(value) is int:
        return value
    text = _spell_number(value)
    whole = text if text is None or _is_whole(text) else without_zeros(text)
    return None if whole is None or _is_long(whole) else int(whole)


def _spell_number(value: object) -> str | None:
    """The spelling of a number, or a text unchanged; None for any other value."""
    if isinstance(value, bool) or not isinstance(value, (str, int, float)):
        return None
    return str(value)


def _is_whole(text: str | None) -> bool:
    """Whether a text is a whole number in JSON's spelling: no plus, no leading zeros."""
    digits = (text or "").removeprefix("-")
    plain = digits.isascii() and digits.isdigit()
    return text == "0" or (plain and digits[0] != "0")


def _is_long(whole: str) -> bool:
    """Whether a whole number has more digits than any amount; Python refuses some of those."""
    return len(whole.removeprefix("-")) > _DIGITS_MAX


def without_zeros(text: str) -> str | None:
    """Returns `4999` of `4999.0`, as spreadsheets and pandas write whole numbers; else None."""
    whole, _, fraction = _with_point(text.strip()).partition(".")
    plain = _is_whole(whole) and whole[0] != "-"
    return whole if plain and fraction in ("0", "00") else None


def _suggest_number(text: str, name: str, currency: str | None) -> str:
    minor, whole = parse_minor_units(_with_point(text), currency), without_zeros(text)
    if minor is None and whole is not None and currency and exponent(currency) == 0:
        minor = int(whole)
    if minor is None:
        shown = currency if currency in CURRENCIES else "EUR"
        bare = ", which has no decimals" if exponent(shown) == 0 else ""
        such = f"such as {_EXAMPLE} for {format_amount(_EXAMPLE, shown)}{bare}"
        return f"Amounts are whole numbers in the currency's minor unit, {such}"
    option = f"{name} " if name.startswith("--") else ""
    if whole is not None and int(whole) != minor:  # either may be meant: a guess could cost money
        amount = format_amount(minor, currency or "EUR")
        return f"{option}{whole}, or {option}{minor} if {amount} is meant"
    return f"{text} {currency or 'with two decimals'} is {option}{minor} in minor units"


def _with_point(text: str) -> str:
    """Reads a comma as a decimal point, unless it may separate thousands, as in `1,000`."""
    whole, comma, fraction = text.partition(",")
    return f"{whole}.{fraction}" if comma and len(fraction) in (1, 2) else text


def _show_value(value: object) -> str:
    """Formats a value for a message: text in quotes, other values as JSON."""
    if isinstance(value, str):
        return _truncate(repr(value))
    if _spell_number(value) is not None:
        return _truncate(str(value))
    from json import dumps

    return _truncate(dumps(value))


def _has_decimals(text: str) -> bool:
    whole, dot, decimals = text.partition(".")
    return dot != "" and f"{whole}{decimals}".isdecimal()


def _truncate(text: str) -> str:
    return text if len(text) <= _SHOWN_MAX else f"{text[:_SHOWN_MAX]}..."


def _build_error(message: str, name: str, hint: str | None) -> UsageError:
    return UsageError(f"{message}.", code="amount_invalid", param=name, hint=hint)
