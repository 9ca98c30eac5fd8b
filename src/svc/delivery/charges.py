"""What a request would move, where a limit holds for it: as its bytes say, else read first."""

from svc.client import find
from svc.client.call import Call
from svc.client.client import Client
from svc.delivery.journal.entry import Charge
from svc.delivery.journal.limits import check_amount, takes_amount
from svc.errors import Forbidden, SvcError


class ChargeReader:
    """Reads payments, orders and disputes, each once, for the money that requests move."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self._known: dict[str, Charge] = {}

    def complete_charge(self, call: Call, said: Charge) -> Charge:
        """Gives what a request moves at most; what the service does not tell stays unknown.

        A request without an amount moves no more than the whole of what it is about, whatever was
        taken of it before: what is left may become more until it is carried out.

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
