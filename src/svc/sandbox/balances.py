"""The account's balances in each mode, in minor units."""

from svc.sandbox.store import Store


def read(store: Store, mode: str, currency: str) -> int:
    """The balance, 0 where none was ever kept."""
    sql = "SELECT amount FROM balances WHERE mode = ? AND currency = ?"
    row = store.one(sql, mode, currency)
    amount: int = row[0] if row else 0
    return amount


def write(store: Store, mode: str, currency: str, amount: int) -> None:
    sql = "INSERT OR REPLACE INTO balances(mode, currency, amount) VALUES(?, ?, ?)"
    store.write(sql, mode, currency, amount)


def every(store: Store, mode: str) -> dict[str, int]:
    """All balances by currency, in alphabetical order."""
    sql = "SELECT currency, amount FROM balances WHERE mode = ? ORDER BY currency"
    return {currency: amount for currency, amount in store.all(sql, mode)}  # noqa: C416  rows, not pairs
