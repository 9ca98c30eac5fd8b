"""Determines the amount that a request would move, for the money limits of the configuration.

`send` and `svc batch` ask a `ChargeReader` where a limit applies and the request lacks its amount
or currency, as a refund lacks the currency: a request in, a `Charge` out.
"""

from svc.client import find
from svc.client.call import Call
from svc.client.client import Client
from svc.delivery.journal.entry import Charge
from svc.delivery.journal.limits import check_amount, takes_amount
from svc.errors import Forbidden, SvcError


class ChargeReader:
    """Reads the amounts of payments, orders and disputes, each object once."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self._known: dict[str, Charge] = {}

    def complete_charge(self, call: Call, said: Charge) -> Charge:
        """Returns the most that a request can move; unknown if the service does not report it.

        A request without an amount counts with the whole amount of its object, even if a part has
        been taken already: the remaining amount may increase before the request is carried out.

        Raises:
            SvcError: the service cannot be asked; nothing was sent.
        """
        reading = find.money_of(call)
        if reading is None or None not in said:
            return said
        if reading.path not in self._known:
            self._known[reading.path] = self._read(reading)
        whole = self._known[reading.path]
        takes_all = not takes_amount(call.path) or (call.body or {}).get("amount") is None
        return Charge(whole.amount if takes_all else said.amount, said.currency or whole.currency)

    def _read(self, reading: Call) -> Charge:
        try:
            data = self._client.send(reading).data
        except Forbidden:
            return Charge()  # the limit refuses what cannot be told
        except SvcError as error:
            error.outcome = "not_sent"
            raise
        if not isinstance(data, dict):
            return Charge()
        whole, _ = find.amounts_of(data)
        currency = data.get("currency")
        most = whole or data.get("amount")  # nothing is captured yet, and may be in a moment
        return Charge(check_amount(most), currency if isinstance(currency, str) else None)
