"""Amounts on the command line: whole minor units, with the right number in the hint if not."""

from svc.errors import UsageError
from svc.money import minor_units


def amount_option(text: str | None, name: str, currency: str | None) -> int | None:
    """Reads an amount in minor units; None stays None.

    Raises:
        UsageError: on a decimal point or anything but digits; the hint names the right number
            where it can be told.
    """
    if text is None:
        return None
    plain = text.removeprefix("-")
    if plain.isascii() and plain.isdigit() and len(plain) <= 15:  # noqa: PLR2004  12 are allowed
        return int(text)
    minor = minor_units(_with_point(text), currency)
    hint = "Amounts are whole numbers in the currency's minor unit, such as 12900 for 129.00 EUR"
    if minor is not None:
        unit = f" {currency}" if currency else ""
        hint = f"{text}{unit} is {name} {minor} in minor units"
    raise UsageError(
        f"{name} {text!r} is not a whole number of minor units.", param=name, hint=hint
    )


def _with_point(text: str) -> str:
    """Reads a comma as a decimal point, but never one that could part thousands: `1,000`."""
    whole, comma, fraction = text.partition(",")
    return f"{whole}.{fraction}" if comma and len(fraction) in (1, 2) else text
