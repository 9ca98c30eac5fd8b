"""A listener's whole story, each kind of record in it, as people and as programs see it.

It lies in `story.txt`; after a change that is meant, `GOLDEN=write` writes it anew.
"""

import io
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

from support.suite.golden import hold_golden
from svc.cli.events.endpoint import Endpoint
from svc.cli.events.screen.printer import RecordPrinter
from svc.listen.output_records import (
    BugMet,
    Forwarded,
    Left,
    ListenerRecord,
    LogReplaced,
    LogState,
    Missed,
    Ready,
    Rejected,
    StoreState,
    Summary,
    TargetAway,
    TunnelDown,
    TunnelUp,
)
from svc.listen.routes import Routes
from svc.render.layout import LineLayout
from svc.render.writer import Writer
from unit.cli.events.screen import records
from unit.cli.events.screen.records import AT

A, B = "http://localhost:3000/webhooks", "http://localhost:4000/a"
TUNNEL = "https://a-tunnel.example/events"
TWICE = Endpoint(
    None, TUNNEL, ("whsec_1234567890abcdef", "whsec_fedcba0987654321"), "as you gave it"
)
READY = Ready(AT, "http://127.0.0.1:1/", (A,), ("order.paid", "order.created"), "test", None, None)
EVENT = replace(records.EVENT, id="evt_1", payload=b'{"id":"evt_1"}')
GOOD = Forwarded(AT, "evt_1", "order.paid", A, 200, 24.2, 1, None, b"ok", None)
REFUSED = replace(GOOD, id="evt_2", status=400, reply=b"<h1>Bad Request</h1><p>no such order")
FAILED = replace(GOOD, url=B, status=None, error="connection refused", reply=b"", retry_in=2.0)
HARM = b"\nno such order \x1b[31m \x9b \xe2\x80\xae\n<trace>"
RECORDS: tuple[ListenerRecord, ...] = (
    READY,
    replace(READY, targets=(A, B), pending=1, endpoint="we_1"),
    replace(READY, targets=(), pending=2, events=("order.paid",), mode="live"),
    EVENT,
    GOOD,
    replace(EVENT, id="evt_2", duplicate=True, amount=None),
    replace(EVENT, id="evt_3", out_of_order=True, type="", currency=None),
    replace(EVENT, id="evt_4", wrong_mode=True),
    replace(EVENT, id="evt_5", wrong_mode=True, livemode=True),
    replace(EVENT, came_at=AT - 59.9),
    replace(EVENT, came_at=AT - 60.0, end_to_end=True),
    replace(EVENT, came_at=AT - 7200, redelivered=2, amount=1, currency="JPY"),
    EVENT,
    Rejected(AT, "signature_mismatch", "No signature fits.", 120),
    GOOD,
    REFUSED,
    REFUSED,
    replace(REFUSED, status=500, retry_in=8.0, attempt=2, signed_anew=True, reply=HARM),
    replace(GOOD, url="run:./handle", status=None, error="exit code 3", attempt=3),
    replace(GOOD, url="run:./handle"),
    FAILED,
    replace(FAILED, time=AT + 2, attempt=2),
    replace(FAILED, time=AT + 4, attempt=3, retry_in=3.1),
    replace(GOOD, time=AT + 60, url=B, milliseconds=61_000.0),
    replace(GOOD, time=AT + 65, url=B, attempt=4),
    replace(FAILED, id="evt_3"),
    replace(FAILED, id="evt_4", retry_in=1.9),
    TargetAway(AT, B, 1, "connection refused", 29.6, None),
    TargetAway(AT, B, 1200, "it does not answer", 3600.0, 5.0),
    Rejected(AT, "signature_mismatch", "No signature fits.", 120),
    Rejected(AT, "not_stored", "The disk is full.", 120, cause="disk_full", verified=True),
    Left(AT, "evt_9", "order.paid", "ord_1", 3),
    TunnelUp(AT, TUNNEL, "we_1"),
    TunnelDown(AT, TUNNEL, "ssh ended\x1b."),
    LogState(AT, "nats://log.example", "no server answers."),
    LogState(AT, "nats://log.example", None),
    Missed(AT, 1200, "nats://log.example"),
    LogReplaced(AT, "nats://log.example", 5000, 4000, 1000),
    LogReplaced(AT, "nats://log.example", 5000, 6000, 0),
    StoreState(AT, "The disk is full."),
    StoreState(AT, None),
    BugMet(AT, "KeyError", "send, line 12", 3),
    Summary(AT, 12.5, 9, 0, 0, 0, 0, 0, 0, 0, None),
    Summary(AT, 12.5, 9, 8, 7, 6, 5, 4, 3, 2, until_reached=True),
)


def tell(form: str, width: int | None, *, quiet: bool = False, **asked: Any) -> str:
    """What is printed for each record, what goes to stderr behind `! `."""
    text, out, err = io.StringIO(), io.StringIO(), io.StringIO()
    layout = LineLayout(width, color=False, utc=True, tick="✓")
    session = SimpleNamespace(
        format=form,
        stdout=Writer(out),
        stderr=Writer(err),
        records=Writer(out, json=True),
        streams=SimpleNamespace(stdout=out, stderr=err, person_reads=False),
        given=SimpleNamespace(everywhere=SimpleNamespace(quiet=quiet)),
        layout=lambda _: layout,
    )
    options = {
        "shown": "summary",
        "routes": Routes.parse([A]),
        "forwarding": SimpleNamespace(retry=asked.pop("retry", "service")),
        "ack": "received",
        "resume": True,
        "again": "svc events listen",
        **asked,
    }
    known = Endpoint("we_1", TUNNEL, ("whsec_1234567890abcdef",), "in your keyring")
    endpoint = asked.pop("endpoint", known)
    given = cast("Any", session), cast("Any", SimpleNamespace(**options)), endpoint
    printer = RecordPrinter(*given, lambda write: write())
    for record in RECORDS:
        printer.show(record)
        for stream, mark in ((out, ""), (err, "! ")):
            lines = stream.getvalue().splitlines()
            text.writelines(f"{mark}{line}".rstrip() + "\n" for line in lines)
            stream.seek(stream.truncate(0))
    printer.close()
    text.write(out.getvalue())
    return f"== {form} {width}\n{text.getvalue()}missed {printer.missed}, away {printer.log_away}\n"


def test_every_record_is_told_as_agreed() -> None:
    """R63: at 40 columns nothing is cut; what does not fit goes on the next line."""
    told = (
        tell("human", None),
        tell("human", 60, retry="fast", resume=False),
        tell("human", 80, shown="none", ack="forwarded", quiet=True),
        tell("human", 100, shown="none", endpoint=TWICE),
        tell("human", 80),
        tell("human", 40, retry="fast"),
        tell("ndjson", None),
    )
    hold_golden(Path(__file__).with_name("story.txt"), "\n".join(told))
