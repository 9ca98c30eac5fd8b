"""An event and its forwarding, as the tests of the screen show them."""

from svc.listen.output_records import EventReceived, Forwarded

AT = 1_790_863_402.1049
EVENT = EventReceived(
    time=AT,
    id="evt_3kPq0aVb7cXd9eYf1gZh2iWj",
    type="order.paid",
    object_id="ord_1",
    created="2026-10-01T14:03:22Z",
    livemode=False,
    amount=15708,
    currency="EUR",
    duplicate=False,
    out_of_order=False,
    wrong_mode=False,
    payload=b'{"a": "\xc3\xa9\\u001b"}',
)
FORWARD = Forwarded(
    time=AT + 0.027,
    id=EVENT.id,
    type=EVENT.type,
    url="http://localhost:3000/webhooks",
    status=200,
    milliseconds=24.2,
    attempt=1,
    error=None,
    reply=b"ok",
    retry_in=None,
)
