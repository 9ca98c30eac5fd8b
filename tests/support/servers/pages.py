"""A service with as many orders as asked for, in pages, on loopback: `python page_server.py N`.

Prints its port. Pages are made once, so that what is measured is the client.
"""

import json
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit


def order(number: int) -> dict[str, Any]:
    """An order as the service answers it, about 900 bytes."""
    return {
        "id": f"ord_{number:024d}",
        "object": "order",
        "status": "requires_payment",
        "amount": 12900 + number,
        "currency": "EUR",
        "settlement_currency": "USD",
        "shipping": {"country": "DE", "postal_code": "10115"},
        "items": [
            {
                "name": f"Linen jacket {number}",
                "hs_code": "6203.39",
                "origin_country": "IT",
                "quantity": 1,
                "unit_amount": 12900,
            }
        ],
        "capture_method": "automatic",
        "methods": ["card", "sepa_debit", "giropay", "paypal"],
        "landed_cost": {
            "duty": 0,
            "vat": 2451,
            "fees": 357,
            "total": 2808,
            "currency": "EUR",
            "guaranteed": True,
            "quote": f"lcq_{number:024d}",
        },
        "amount_total": 15708 + number,
        "amount_captured": 0,
        "amount_refunded": 0,
        "latest_payment": None,
        "cancellation_reason": None,
        "cancelled_at": None,
        "paid_at": "2026-10-01T09:00:01Z",
        "metadata": {"ref": f"A-{number}"},
        "created": "2026-10-01T09:00:00Z",
        "livemode": False,
    }


class Pages(BaseHTTPRequestHandler):
    """Answers `GET` of lists."""

    protocol_version = "HTTP/1.1"
    entries: tuple[str, ...] = ()
    places: dict[str, int] = {}  # noqa: RUF012  filled once, before the first request

    def do_GET(self) -> None:
        query = {name: values[-1] for name, values in parse_qs(urlsplit(self.path).query).items()}
        is_theirs = urlsplit(self.path).path == "/v1/orders"  # of other objects there are none
        entries = self.entries if is_theirs else ()
        start = self.places.get(query.get("starting_after", ""), -1) + 1
        end = start + int(query.get("limit", 25))
        more = "true" if end < len(entries) else "false"
        data = ",".join(entries[start:end])
        body = f'{{"object":"list","data":[{data}],"has_more":{more}}}'.encode()
        head = f"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {len(body)}"
        self.wfile.write(f"{head}\r\n\r\n".encode() + body)

    def log_request(self, code: int | str = "-", size: int | str = "-") -> None:
        pass


def main() -> None:
    """Serves until it is killed."""
    orders = [order(number) for number in range(int(sys.argv[1]))]
    Pages.entries = tuple(json.dumps(one, separators=(",", ":")) for one in orders)
    Pages.places = {one["id"]: place for place, one in enumerate(orders)}
    server = ThreadingHTTPServer(("127.0.0.1", 0), Pages)
    print(server.server_address[1], flush=True)
    server.serve_forever()


if __name__ == "__main__":
    main()
