"""Addresses of a checkout's pages: below `/checkout/CLIENT_SECRET`."""

from dataclasses import dataclass
from typing import Final
from urllib.parse import quote, urlencode

ROOT: Final = "/checkout"
CHALLENGE: Final = "/challenge"
BANK: Final = "/bank"
COMPLETE: Final = "/complete"


@dataclass(frozen=True, slots=True)
class Address:
    """One order's checkout, and what stays with the shopper from page to page.

    `language` and `key` are what was asked for in the address; None means the usual one.
    """

    secret: str
    language: str | None = None
    key: str | None = None

    def url(self, step: str = "", **query: str | None) -> str:
        """The path and query of a page; parameters that are None are left out."""
        kept = {"lang": self.language, "key": self.key, **query}
        pairs = urlencode({name: value for name, value in kept.items() if value is not None})
        path = f"{ROOT}/{quote(self.secret, safe='')}{step}"
        return f"{path}?{pairs}" if pairs else path
