"""The inspector's pages over HTTP: what they show, what they hide, and sending again."""

import html
import json
import logging
import re
import shutil
import socket
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest

from support.clocks import ManualClock
from support.listening import (
    NOW,
    SECRET,
    Received,
    TargetServer,
    delivery,
    event,
    status_line,
    talk,
)
from support.suite.patience import patient
from svc.errors import LocalError
from svc.listen.forward.pump import ForwardOptions
from svc.listen.inbox.history import FoundEntries
from svc.listen.inspector import app, http
from svc.listen.inspector.app import bind_inspector
from svc.listen.inspector.history import STATES
from svc.listen.inspector.page import Times, mask
from svc.listen.output_records import Forwarded
from svc.listen.receiver.server import bind
from svc.signature import verify
from unit.listen.inspector.seen import seen
from unit.listen.inspector.watched import WatchedListener, watching

POLICY = {
    "default-src": "'none'",
    "script-src": "'self'",
    "style-src": "'self'",
    "img-src": "'self'",
    "connect-src": "'self'",
    "form-action": "'self'",
    "frame-ancestors": "'none'",
    "base-uri": "'none'",
    "require-trusted-types-for": "'script'",
    "trusted-types": "'none'",
}
LOCKS = {
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "no-store",
    "connection": "close",
}


@contextmanager
def application() -> Iterator[TargetServer]:
    """Takes everything but payment.failed."""

    def reply(request: Received) -> bytes:
        if b"payment.failed" not in request.body:
            return b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
        said = b"no such <b>order</b>"
        return b"HTTP/1.1 500 Oops\r\nContent-Length: %d\r\n\r\n%s" % (len(said), said)

    with TargetServer(reply) as running:
        yield running


@pytest.fixture
def target() -> Iterator[TargetServer]:
    """An application."""
    with application() as running:
        yield running


STOCK = {
    1: event(1),
    2: event(2, "payment.failed"),
    3: event(3, "refund.created", note="hay Needle hay"),
}


@dataclass
class Stocked:
    """A listener with three deliveries that tests only look at."""

    watched: WatchedListener
    target: TargetServer


@pytest.fixture(scope="module")
def stocked(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stocked]:
    """One for all tests of this module."""
    folder = tmp_path_factory.mktemp("stocked")
    with application() as target, watching(folder, target.port) as watched:
        for number in (1, 2, 3, 3, 3):
            watched.send(STOCK[number])
        watched.settled(3)
        yield Stocked(watched, target)


@pytest.fixture
def watched(tmp_path: Path, target: TargetServer) -> Iterator[WatchedListener]:
    """A listener that forwards to it, with an inspector."""
    with watching(tmp_path, target.port) as running:
        yield running


def texts(page: str) -> str:
    """What a page says, without its markup."""
    return html.unescape(re.sub(r"<[^>]+>", "\n", page))


def rows(page: str) -> list[str]:
    """The paths of the deliveries in the list."""
    return re.findall(r'class="row [^"]*" href="/[0-9a-f]{32}/([^"?]*)', page)


def lines(watched: WatchedListener, page: str) -> list[str]:
    """What a page is to whoever uses it, without what it takes and when."""
    shown = "\n".join(seen(page, watched.root))
    return re.sub(r"\d+ ms (.*) 2023.*", r"N ms \1 then", shown).split("\n")


def detail(watched: WatchedListener, path: str) -> list[str]:
    """One delivery, without the frame of the page and what its payload is signed with."""
    whole = lines(watched, watched.get(path).body)
    found = whole[whole.index("Pages {hidden} [] All deliveries") + 1 : whole.index(FOOTER[0])]
    return [one for one in found if not one.startswith("Svc-Signature")]


FOOTER = ["{hidden} Keys", "j k next, previous", "Enter open", "/ filter", "r replay", "Esc close"]
FILTER = [
    "▾ Filter",
    "[] search",
    "Text text: {value }",
    "Type type: All types",
    "State state: All states",
    "Target target: {value }",
    "Object object: {value }",
    "Filter [] {hidden} Clear",
]


def test_list_says_what_came_the_newest_first(stocked: Stocked) -> None:
    """Type, time, state, amount and id; above it the filter, below it the keys, beside it a hint.

    The script shows what is hidden, as soon as it can do something.
    """
    watched = stocked.watched
    assert lines(watched, watched.get().body) == [
        "{lang en} viewport: color-scheme:",
        "Deliveries · svc inspector",
        "[style.css]",
        "[icon.svg] [script.js] {defer}",
        "[] svc inspector",
        f"Test mode Forwarding all to http://localhost:{stocked.target.port}",
        "{hidden}",
        "[]",
        "Deliveries",
        "Times in UTC",
        *FILTER,
        "status polite",
        "[delivery/evt_3] refund.created 22:13:20.000 ✓ 200 OK, came 3 times 157.08 EUR evt_3",
        "[delivery/evt_2] payment.failed 22:13:20.000 ✕ 500 Internal Server Error 157.08 EUR evt_2",
        "[delivery/evt_1] order.paid 22:13:20.000 ✓ 200 OK 157.08 EUR evt_1",
        "Pages {hidden}",
        "Choose a delivery to see what it says and what became of it.",
        *FOOTER,
    ]


def test_list_keeps_what_was_asked_for(stocked: Stocked) -> None:
    """In its fields, and in the link that leads back to the newest."""
    asked = "?type=order.paid&state=failed&target=t&object=o&text=abc"
    shown = lines(stocked.watched, stocked.watched.get(f"{asked}&before=7").body)
    assert shown[shown.index("[] search") + 1 : -len(FOOTER) - 1] == [
        "Text text: {value abc}",
        "Type type: All types order.paid",
        "State state: All states failed: a target did not take it, and it is not tried again",
        "Target target: {value t}",
        "Object object: {value o}",
        "Filter [] Clear",
        "status polite",
        "Nothing fits this filter.",
        f"Pages [{asked}] Newest",
    ]


@pytest.mark.parametrize("state", STATES)
def test_filter_says_what_each_state_means(stocked: Stocked, state: str) -> None:
    """Whoever chooses one reads it beside its name."""
    shown = lines(stocked.watched, stocked.watched.get(f"?state={state}").body)
    assert f"State state: All states {state}: {STATES[state]}" in shown


@pytest.mark.parametrize(
    ("number", "kind", "state", "came", "forward", "note"),
    [
        (
            2,
            "payment.failed",
            "failed: a target did not take it, and it is not tried again",
            [],
            ["✕ 500 Internal Server Error", "▾ Response body", "no such <b>order</b>"],
            [],
        ),
        (
            3,
            "refund.created",
            "forwarded: every target took it",
            ["Came again 2 times"],
            ["✓ 200 OK", "▸ Response body", "ok"],
            ['note : "hay Needle hay"'],
        ),
    ],
    ids=["failed", "forwarded"],
)
def test_delivery_says_all_that_is_known_of_it(
    stocked: Stocked,
    number: int,
    kind: str,
    state: str,
    came: list[str],
    forward: list[str],
    note: list[str],
) -> None:
    """What it is and why it is authentic, each forward with its answer, how to send it, its bytes."""
    path, body = f"delivery/evt_{number}", STOCK[number]
    assert detail(stocked.watched, path) == [
        kind,
        f"Event evt_{number}",
        f"State {state}",
        "Received 2023-11-14 22:13:20.000 UTC",
        "Created 2023-11-14 22:13:20.000 UTC",
        "Amount 157.08 EUR",
        f"Object ord_{number}",
        "Mode test",
        *came,
        "✓ Verified: signed with whsec_…hWm3, 0 s before it came.",
        "Forwards",
        f"{forward[0]} http://localhost:{stocked.target.port} N ms attempt 1 then",
        forward[1],
        f"group Response body {forward[2]}",
        "Send again",
        "status",
        f"{{method post}} [{path}/replay] Replay to to: {{value }} {{placeholder where it went}}",
        "A port or URL of this machine.",
        "original: {value 1} Keep the original signature and its time",
        f"Replay [{path}/curl] Copy as curl",
        "Payload",
        f"{len(body)} bytes. Secrets are masked; a target gets the payload as it came.",
        f'id : "evt_{number}"',
        'object : "event"',
        f'type : "{kind}"',
        'created : "2023-11-14T22:13:20Z"',
        "livemode : false",
        "▾ data {1}",
        "▾ object {5}",
        f'id : "ord_{number}"',
        'object : "order"',
        "amount : 12900",
        "amount_total : 15708",
        'currency : "EUR"',
        *note,
        "▸ Raw",
        f"group Raw payload {body.decode()}",
        "▾ Headers, as they are passed on",
        "Content-Type application/json; charset=utf-8",
    ]


def test_each_colour_of_the_style_is_one_and_is_used(watched: WatchedListener) -> None:
    """Else a part has no colour at all; the rest of a page is held where one is fetched."""
    sheet = watched.get("style.css").body
    named = set(re.findall(r"(--[a-z-]+):", sheet))
    assert set(re.findall(r"var\((--[a-z-]+)\)", sheet)) == named


def test_secrets_are_masked(watched: WatchedListener) -> None:
    """A client secret or a signing secret in a payload is not on any page (promises R39, R45)."""
    secret = "ord_1_secret_" + "a" * 24
    signing = "whsec_" + "b" * 24
    watched.send(event(1, note=f"{secret} {signing}", keys={signing: [secret]}))
    watched.settled(1)
    for path in ("", "delivery/evt_1", "delivery/evt_1/curl"):
        page = watched.get(path)
        assert page.status == 200
        assert "a" * 5 not in page.body
        assert "b" * 5 not in page.body
    assert "ord_1_secret_…aaaa" in watched.get("delivery/evt_1").body
    assert SECRET not in watched.get("delivery/evt_1").body


@pytest.mark.parametrize("offset", range(980, 1020, 4))
def test_secrets_are_masked_where_text_is_cut(offset: int) -> None:
    """A secret that lies across the cut does not show its other half."""
    secret = "whsec_" + "c" * 24 + "d" * 200
    for text in ("x" * offset + " " + secret, "x" * (offset - 980) + " " + secret + " y" * 500):
        shown = mask(text)
        assert "ccccc" not in shown
        assert "ddddd" not in shown


def test_control_characters_are_shown(watched: WatchedListener) -> None:
    """Nothing in a payload hides, reorders or acts (promise R61)."""
    body = json.dumps({"id": "evt_1", "type": "order.paid", "note": "\u202e\x1b]0;x\x07\x00\ud800"})
    raw = body.replace("\\u202e", "\u202e").encode()
    watched.send(raw)
    watched.settled(1)
    page = watched.get("delivery/evt_1").body
    assert "\u202e" not in page
    assert "\x1b" not in page
    assert "\\u{202e}" in page


def test_any_signed_body_is_shown(watched: WatchedListener) -> None:
    """What is no JSON, or absurd, is shown raw; no page breaks."""
    nested = b"{" + b'"a":{' * 3000
    bodies = [b"", b"\xff\xfe\x00", b"[]", b'"text"', b"[" * 5000, nested, b"\x00" * 2000]
    for count, body in enumerate(bodies, start=1):
        watched.send(body)
        watched.settled(count)
        page = watched.get(rows(watched.get().body)[0])
        assert page.status == 200
        assert texts(page.body).count("(no type)") == count + 1  # in the list, and above this one
        assert ('class="raw" open' in page.body) == (body != b"[]")


def test_rejected_delivery_is_shown_without_its_payload(watched: WatchedListener) -> None:
    """The reason, the sentence and the headers; never what it said (promise R49)."""
    body = event(1, note="forged<script>")
    assert talk(watched.port, delivery(body, secret="whsec_another_one_00000000", Cookie="c=1"))
    talk(watched.port, delivery(body, Svc_Signature="", Authorization="Bearer abcdefgh<i>"))
    page = watched.get()
    assert rows(page.body) == ["rejected/2", "rejected/1"]
    first, second = watched.get("rejected/1"), watched.get("rejected/2")
    assert "signature_mismatch" in first.body
    for shown in (page, first, second):
        assert "forged" not in shown.body
        assert "c=1" not in shown.body
        assert "abcdefgh" not in shown.body
    assert detail(watched, "rejected/2") == [
        "Rejected delivery",
        "Received 2023-11-14 22:13:20.000 UTC",
        "Reason signature_missing",
        f"Size {len(body)} bytes",
        "✕ Rejected: There is no Svc-Signature header.",
        "Nothing of its payload is kept: its sender is unknown.",
        "▾ Headers, as they came",
        "Host 127.0.0.1",
        "Content-Type application/json; charset=utf-8",
        "Svc-Event-Id evt_1",
        f"Content-Length {len(body)}",
        "Authorization …",
    ]


def test_only_the_last_rejections_are_kept(watched: WatchedListener) -> None:
    """A flood of forgeries costs a bounded amount of memory."""
    with socket.create_connection(("127.0.0.1", watched.port), 60) as peer:
        for _ in range(230):
            peer.sendall(delivery(b"{}", Svc_Signature=""))
            assert peer.recv(4096).startswith(b"HTTP/1.1 400")
    assert len(rows(watched.get("?state=rejected").body)) == 200
    assert watched.get("rejected/1").status == 404
    assert watched.get("rejected/230").status == 200


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("", ["evt_3", "evt_2", "evt_1"]),
        ("?type=order.paid", ["evt_1"]),
        ("?state=failed", ["evt_2"]),
        ("?state=forwarded", ["evt_3", "evt_1"]),
        ("?state=nonsense&before=x&before=9", ["evt_3", "evt_2", "evt_1"]),
        ("?text=EVT_2", ["evt_2"]),
        ("?text=needle", ["evt_3"]),
        ("?text=500", ["evt_2"]),
        ("?type=order.paid&text=needle", []),
        ("?text=%25", []),
    ],
)
def test_filter_narrows_the_list(stocked: Stocked, query: str, expected: list[str]) -> None:
    """By type, by state, and by a text that stands anywhere, in the payload as well."""
    assert rows(stocked.watched.get(query).body) == [f"delivery/{name}" for name in expected]


def test_list_has_pages(watched: WatchedListener) -> None:
    """Fifty a page; every delivery is on one of them, and rejections are where they belong."""
    with socket.create_connection(("127.0.0.1", watched.port), 60) as peer:
        for number in range(120):
            peer.sendall(delivery(event(number)))
            assert peer.recv(4096).startswith(b"HTTP/1.1 200")
    watched.settled(120)
    seen, path = [], ""
    while True:
        page = watched.get(path).body
        seen.append(rows(page))
        older = re.search(r'href="/[0-9a-f]{32}/(\?[^"]*)" rel="next"', page)
        if older is None:
            break
        path = html.unescape(older[1])
    assert [len(each) for each in seen] == [50, 50, 20]
    assert list(chain.from_iterable(seen)) == [
        f"delivery/evt_{number}" for number in range(119, -1, -1)
    ]


def test_replay_signs_anew_and_is_noted(watched: WatchedListener, target: TargetServer) -> None:
    """The same bytes, a signature of now, recorded like any forward, told like any forward."""
    watched.send(event(1))
    watched.settled(1)
    assert isinstance(watched.clock, ManualClock)
    watched.clock.advance(1000)
    sent = watched.submit("delivery/evt_1/replay", to="")
    assert sent.status == 303
    assert sent.headers["location"] == f"{watched.root}delivery/evt_1?sent=1#said"
    first, again = target.received
    assert again.body == first.body
    verify(again.body, again.header("svc-signature"), [SECRET], NOW + 1000)
    assert (first.header("Svc-Redelivered"), again.header("Svc-Redelivered")) == ([], [b"1"])
    page = texts(watched.get("delivery/evt_1?sent=1").body)
    assert f"Sent again: 200 OK from http://localhost:{target.port}." in page
    assert "replay 1" in page
    told = [one for one in watched.records if isinstance(one, Forwarded)]
    assert [(one.id, one.status) for one in told] == [("evt_1", 200)] * 2


def test_a_replay_says_what_came_of_it_and_of_no_other(
    watched: WatchedListener, target: TargetServer
) -> None:
    """Whichever address was tried more often, and whatever the clock says: it stands still here."""
    watched.send(event(1))
    watched.settled(1)
    for _ in range(3):
        watched.submit("delivery/evt_1/replay", to="")
    with TargetServer() as other:
        sent = watched.submit("delivery/evt_1/replay", to=f"{other.port}/elsewhere")
    query = sent.headers["location"].partition("?")[2].partition("#")[0]
    said = f"Sent again: 200 OK from http://localhost:{other.port}/elsewhere."
    assert said in texts(watched.get(f"delivery/evt_1?{query}").body)
    watched.send(event(2))
    watched.settled(2)
    assert "Sent again" not in watched.get(f"delivery/evt_2?{query}").body


@pytest.mark.parametrize(
    ("utc", "zone"), [(True, "UTC"), (False, r"[+-]\d\d:\d\d")], ids=["utc", "local"]
)
def test_every_time_has_one_style_and_its_zone(utc: bool, zone: str) -> None:
    """What the service wrote looks like what was seen here; a time of another day has its date."""
    times = Times(utc=utc)
    style = rf"2023-11-1[45] \d\d:\d\d:20\.250 {zone}"
    assert re.fullmatch(style, times.full(1_700_000_000.25))
    assert times.format_said("2023-11-14T22:13:20.250Z") == times.full(1_700_000_000.25)
    assert times.format_said("no time") == "no time"
    assert re.fullmatch(r"\d\d:13:20\.250", times.brief(1_700_000_000.25, 1_700_000_001))
    assert times.full(1_700_000_000.25).startswith(times.brief(1_700_000_000.25, 1_800_000_000))
    assert re.fullmatch(zone, times.zone(1_700_000_000))


def test_replay_keeps_the_original_signature(
    watched: WatchedListener, target: TargetServer
) -> None:
    """What a target gets is then what came, to the letter."""
    watched.send(event(1))
    watched.settled(1)
    assert watched.submit("delivery/evt_1/replay", to="", original="1").status == 303
    first, again = target.received
    assert again.header("svc-signature") == first.header("svc-signature")


def test_replay_goes_to_another_address(watched: WatchedListener, target: TargetServer) -> None:
    """Of this machine, and a success there closes an event that had failed."""
    watched.send(event(2, "payment.failed"))
    watched.settled(1)
    with TargetServer() as other:
        assert watched.submit("delivery/evt_2/replay", to=f"{other.port}/x").status == 303
        assert other.ids == ["evt_2"]
        assert other.received[0].head.startswith(b"POST /x ")
    assert len(target.received) == 1
    assert "200 OK" in watched.get().body


@pytest.mark.parametrize(
    "to",
    [
        "http://169.254.169.254/latest",
        "http://10.0.0.1/",
        "http://0x7f.1/",
        "localhost",
        "file:///etc/passwd",
        "http://127.0.0.1:1\r\nX: y/",
        '"><script>alert(1)</script>',
        "70000",
    ],
)
def test_replay_elsewhere_is_refused(stocked: Stocked, to: str) -> None:
    """Nothing is sent; the page says why beside the field and keeps what was typed (R53)."""
    page = stocked.watched.submit("delivery/evt_1/replay", to=to)
    assert page.status == 400
    assert 'aria-invalid="true"' in page.body
    assert "Cannot forward to" in page.body
    assert "<script>alert" not in page.body
    assert len(stocked.target.received) == 3


def test_configured_headers_stay_with_their_target(tmp_path: Path, target: TargetServer) -> None:
    """What --header sends along may be a credential: another address does not get it."""
    with watching(tmp_path, target.port, headers=(("X-Local", "token"),)) as watched:
        watched.send(event(1))
        watched.settled(1)
        watched.submit("delivery/evt_1/replay", to="")
        with TargetServer() as other:
            watched.submit("delivery/evt_1/replay", to=str(other.port))
            assert other.received[0].header("x-local") == []
    assert [one.header("x-local") for one in target.received] == [[b"token"]] * 2


def test_event_of_the_other_mode_is_not_sent_by_a_mere_click(
    watched: WatchedListener, target: TargetServer
) -> None:
    """A live event on a test listener goes only where somebody says (promise R60)."""
    watched.send(event(1, livemode=True))
    watched.settled(1)
    assert "not forwarded: other mode" in watched.get().body
    refused = watched.submit("delivery/evt_1/replay", to="")
    assert refused.status == 400
    assert "It belongs to the other mode: say where to." in refused.body
    assert target.received == []
    assert watched.submit("delivery/evt_1/replay", to=str(target.port)).status == 303
    assert target.ids == ["evt_1"]


def test_what_was_not_tried_yet_says_what_becomes_of_it(tmp_path: Path) -> None:
    """In the words of the filter: it is still to be forwarded."""
    with TargetServer(lambda _: None) as silent, watching(tmp_path, silent.port) as watched:
        watched.send(event(1))
        watched.until(lambda: silent.received != [])
        said = texts(watched.get().body)
        assert "pending: still to be forwarded" in said
        assert "\nstill to be forwarded\n" in said


def test_replay_to_a_silent_target_ends(tmp_path: Path) -> None:
    """After the forward's limit the page says that no answer came; others are served meanwhile."""
    with TargetServer(lambda _: None) as silent, TargetServer() as target:
        forwarding = ForwardOptions(retry="off", seconds=0.3)
        with watching(tmp_path, target.port, forwarding=forwarding) as watched:
            watched.send(event(1))
            watched.settled(1)
            sent = watched.submit("delivery/evt_1/replay", to=str(silent.port))
            assert sent.status == 303
            assert "no answer in time" in watched.get("delivery/evt_1").body


@pytest.mark.skipif(shutil.which("curl") is None, reason="needs curl")
@pytest.mark.parametrize(
    "more",
    [{}, {"note": 'it\'s "quoted" $HOME `id` \\ %41 é 漢'}, {"amount": 1, "list": [1, "a b"]}],
    ids=["plain", "quotes", "list"],
)
def test_curl_command_sends_the_same_bytes(
    watched: WatchedListener, target: TargetServer, more: dict[str, Any]
) -> None:
    """Pasted into a shell it delivers the same body, signed now."""
    watched.send(event(1, **more))
    watched.settled(1)
    assert isinstance(watched.clock, ManualClock)
    watched.clock.sleep(600)
    command = watched.get("delivery/evt_1/curl")
    assert command.headers["content-type"] == "text/plain; charset=utf-8"
    subprocess.run(["/bin/sh", "-c", command.body], check=True, capture_output=True)
    first, again = target.received
    assert again.body == first.body
    verify(again.body, again.header("svc-signature"), [SECRET], NOW + 600)


FORM = "application/x-www-form-urlencoded"
HTML = "text/html; charset=utf-8"
TEXT = "text/plain; charset=utf-8"
GONE = "It is not in the inbox, or not any more."
LOST = "Only the last rejections are kept, and only while the listener runs."


@pytest.mark.parametrize(
    ("path", "status", "kind", "said"),
    [
        ("", 200, HTML, "Deliveries"),
        ("?text=x", 200, HTML, "Nothing fits this filter."),
        ("?before=9999999999999999999", 200, HTML, "evt_1"),  # more than a database can hold
        ("style.css", 200, "text/css; charset=utf-8", "--page"),
        ("script.js", 200, "text/javascript; charset=utf-8", "use strict"),
        ("icon.svg", 200, "image/svg+xml", ""),
        ("delivery/evt_1", 200, HTML, "order.paid"),
        ("delivery/evt_1/curl", 200, TEXT, "curl -sS -i -X POST"),
        ("delivery/none", 404, HTML, GONE),
        ("delivery/none/curl", 404, None, ""),
        ("rejected/9", 404, HTML, LOST),
        ("rejected/x", 404, HTML, LOST),
        ("nothing", 404, None, ""),
        ("../style.css", 404, None, ""),
        ("__init__.py", 404, None, ""),
        ("delivery/evt_1/replay", 303, None, ""),
        ("POST delivery/none/replay", 404, HTML, GONE),
        ("POST delivery/evt_1", 404, None, ""),
        ("POST style.css", 404, None, ""),
        ("POST ", 404, None, ""),
    ],
)
def test_every_answer_is_locked(
    stocked: Stocked, path: str, status: int, kind: str | None, said: str
) -> None:
    """Strict policy, no framing, no caching, no referrer, no sharing: on every answer."""
    posted = path.startswith("POST ")
    watched = stocked.watched
    answer = watched.submit(path.removeprefix("POST "), to="") if posted else watched.get(path)
    assert answer.status == status
    assert answer.headers.get("content-type") == kind
    assert said in texts(answer.body)
    check_locked(answer.headers)
    left = {*answer.headers} - {*LOCKS, "content-security-policy", "content-type"}
    assert left == {"content-length"} | ({"location"} if status == 303 else set())
    assert answer.headers.get("location") in (None, f"{watched.root}delivery/evt_1")


def check_locked(headers: dict[str, str]) -> None:
    rules = dict(rule.split(" ", 1) for rule in headers["content-security-policy"].split("; "))
    assert rules == POLICY
    assert LOCKS.items() <= headers.items()


@pytest.mark.parametrize(
    ("sent", "status"),
    [
        (b"nonsense\r\n\r\n", 400),
        (b"GET / HTTP/1.1\r\nX: " + b"y" * 20_000, 431),
        (b"GET %s HTTP/1.1\r\nHost: %s\r\nX: " + b"y" * 20_000 + b"\r\n\r\n", 431),
        (b"GET %s HTTP/1.1\r\nHost: %s\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n", 200),
    ],
    ids=["nonsense", "endless", "large", "websocket"],
)
def test_odd_requests_are_answered_and_no_server_beneath_says_so(
    stocked: Stocked,
    sent: bytes,
    status: int,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """R57: with the lock of any answer; stderr is the listener's."""
    monkeypatch.setattr(logging.getLogger(), "handlers", [])  # as where no pytest listens
    port = stocked.watched.page_port
    host = b"127.0.0.1:%d" % port
    with socket.create_connection(("127.0.0.1", port), 60) as peer:
        peer.sendall(sent % (stocked.watched.root.encode(), host) if b"%s" in sent else sent)
        answer = b"".join(iter(lambda: peer.recv(65536), b"")).decode()
    first, *fields = answer.partition("\r\n\r\n")[0].split("\r\n")
    assert first.startswith(f"HTTP/1.1 {status} ")
    headers = {name.lower(): value for name, _, value in (one.partition(": ") for one in fields)}
    check_locked(headers)
    assert status == 200 or headers["content-length"] == "0"
    assert capsys.readouterr().err == ""


def test_who_holds_a_place_without_a_request_loses_it(
    watched: WatchedListener, monkeypatch: pytest.MonkeyPatch
) -> None:
    """R57: to the next one where all are taken, else after 8 s; whoever watches keeps it."""
    monkeypatch.setattr(http, "_CONNECTIONS_MAX", 2)
    with watched.watcher() as said, watched.visitor() as silent, watched.visitor() as half:
        assert silent.recv(1) == b""
        path, host = f"{watched.root}delivery/evt_1/replay", f"127.0.0.1:{watched.page_port}"
        lines = f"Host: {host}\r\nOrigin: http://{host}\r\nContent-Type: {FORM}\r\n"
        half.sendall(f"POST {path} HTTP/1.1\r\n{lines}Content-Length: 9\r\n\r\nto=".encode())
        monkeypatch.setattr(http, "_REQUEST_SECONDS", 0.05)
        with watched.visitor() as late:
            assert half.recv(1) == b""
            late.sendall(b"GET /")
            assert late.recv(1) == b""
        monkeypatch.undo()
        assert watched.get().status == 200
        assert watched.send(event(1)) == 200
        assert next(said) == {"received": 1, "rejected": 0}


def test_pages_end_with_the_listener(tmp_path: Path) -> None:
    """R78: whoever watches is sent away, and nothing of it is left."""
    before = {*threading.enumerate()}

    def drawing() -> list[str]:
        return [one.name for one in {*threading.enumerate()} - before if "inspector" in one.name]

    with watching(tmp_path) as watched, watched.watcher() as said, watched.visitor() as silent:
        assert watched.get().status == 200
        assert drawing() == ["inspector_0"]
        watched.stop()
        assert list(said) == []
        assert silent.recv(1) == b""
        assert drawing() == []


def test_pages_have_the_port_that_was_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without one the usual one, and where that is taken any; a given one is not exchanged."""
    with bind() as taken, bind() as free:
        port, other = taken.getsockname()[1], free.getsockname()[1]
    with bind(port) as taken:
        monkeypatch.setattr(app, "INSPECTOR_PORT", port)
        with pytest.raises(LocalError, match=str(port)), bind_inspector(port):
            pass
        with bind_inspector(None) as any_one, bind_inspector(other) as given:
            assert given.getsockname()[1] == other
            assert any_one.getsockname()[1] not in (port, other)
    with bind_inspector(None) as usual:
        assert usual.getsockname()[1] == port


def test_pages_hold_no_inline_code(stocked: Stocked) -> None:
    """No script, style or handler stands in the markup, and nothing is loaded from elsewhere."""
    for path in ("", "delivery/evt_1"):
        page = stocked.watched.get(path).body
        assert not re.search(r"<script(?![^>]* src=)|<style| style=| on[a-z]+=|javascript:", page)
        links = re.findall(r'(?:href|src|action)="([^"]*)"', page)
        assert links
        assert [one for one in links if not one.startswith(stocked.watched.root)] == []


def test_strangers_are_turned_away(watched: WatchedListener, target: TargetServer) -> None:
    """Wrong token, other host, another page's form: over the wire, and nothing is sent."""
    watched.send(event(1))
    watched.settled(1)
    path = f"{watched.root}delivery/evt_1/replay"
    form = {"Content_Type": "application/x-www-form-urlencoded"}
    assert watched.call("GET", "/").status == 404
    assert watched.call("GET", f"/{'0' * 32}/").status == 404
    assert watched.get(Host="evil.example").status == 421
    assert watched.call("POST", path, "to=", **form).status == 403
    assert watched.call("POST", path, "to=", Origin="https://evil.example", **form).status == 403
    assert (
        watched.call("POST", path, "to=", Origin="null", Sec_Fetch_Site="cross-site", **form).status
        == 403
    )
    own = watched.url.rsplit("/", 2)[0]
    assert (
        watched.call("POST", path, "{}", Origin=own, Content_Type="application/json").status == 415
    )
    assert len(target.received) == 1


def test_news_are_pushed(watched: WatchedListener) -> None:
    """A watcher hears within a moment that something came, or was rejected, and only numbers."""
    with watched.watcher() as said:
        started = time.monotonic()
        watched.send(event(1))
        assert next(said) == {"received": 1, "rejected": 0}
        assert time.monotonic() - started < patient(1)
        talk(watched.port, delivery(b"{}", Svc_Signature=""))
        assert next(one for one in said if one["rejected"]) == {"received": 1, "rejected": 1}


def test_slow_page_delays_no_delivery(
    watched: WatchedListener, monkeypatch: pytest.MonkeyPatch
) -> None:
    """While a page is being drawn the receiver answers as ever."""
    drawing, drawn = threading.Event(), threading.Event()

    def dawdle(*_: object) -> FoundEntries:
        drawing.set()
        drawn.wait(60)
        return FoundEntries([], None, unfinished=False)

    monkeypatch.setattr(watched.archive, "search", dawdle)
    visitor = threading.Thread(target=watched.get)
    visitor.start()
    assert drawing.wait(60)
    started = time.monotonic()
    assert watched.send(event(1)) == 200
    assert time.monotonic() - started < patient(1)
    drawn.set()
    visitor.join()


def fill(watched: WatchedListener, count: int) -> None:
    """Puts so many deliveries behind those that are there, as if they had come since."""
    with watched.state.write() as tx:
        tx.execute(
            "INSERT INTO inbox (listener, event_id, type, object_id, received_at, outcome)"
            " WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?)"
            " SELECT (SELECT MAX(id) FROM listeners), 'evt_more_' || i, 'order.paid', '', ?,"
            " 'unrouted' FROM n",
            (count, NOW),
        )
        tx.execute(
            "INSERT INTO payloads SELECT seq, x'', CAST('{}' AS BLOB) FROM inbox"
            " WHERE seq NOT IN (SELECT inbox_seq FROM payloads)"
        )


def test_the_whole_inbox_is_searched(tmp_path: Path) -> None:
    """What failed before 25,000 others is found by state, target, object, type and text."""
    with (
        TargetServer(lambda _: status_line(404)) as refusing,
        watching(tmp_path, refusing.port) as watched,
    ):
        watched.send(event(1, "payout.paid", note="needle"))
        watched.settled(1)
        fill(watched, 25_000)
        ways = {
            "state": "failed",
            "target": f":{refusing.port}",
            "object": "ord_1",
            "type": "payout.paid",
            "text": "NEEDLE",
        }
        for name, value in ways.items():
            assert rows(watched.get(f"?{name}={value}").body) == ["delivery/evt_1"], name
            assert rows(watched.get(f"?{name}={value}&text=nothing").body) == [], name
        assert rows(watched.get(f"?{urlencode(ways)}").body) == ["delivery/evt_1"]


def test_a_delivery_says_which_target_it_waits_for_and_why(tmp_path: Path) -> None:
    """Before it arrived: the address, the reason, and when it is tried next."""
    with bind() as taken:
        port = taken.getsockname()[1]
    with watching(tmp_path, port, forwarding=ForwardOptions()) as watched:
        watched.send(event(1))
        watched.until(lambda: "connection refused" in watched.get("delivery/evt_1").body)
        page = html.unescape(re.sub(r"<[^>]*>", " ", watched.get("delivery/evt_1").body))
        said = " ".join(page.split())
        assert f"http://localhost:{port} waits: connection refused. Next try " in said
        assert "No answer" in said
        assert "tried again soon" in watched.get().body


def test_a_search_that_takes_long_goes_on_with_the_next_page(tmp_path: Path) -> None:
    """Nothing is out of reach: the page says that it is not done, and where it goes on."""
    with watching(tmp_path, search_seconds=-1) as watched:
        watched.send(event(1, note="needle"))
        watched.settled(1)
        fill(watched, 25_000)
        page = watched.get("?text=needle").body
        assert rows(page) == []
        assert "The search goes on with Older" in page
        [older] = re.findall(r'href="[^"]*\?([^"]*before=[^"]*)"', page)
        assert rows(watched.get(f"?{html.unescape(older)}").body) == ["delivery/evt_1"]


def test_page_of_a_busy_database_says_so(
    watched: WatchedListener, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What the database refuses is told on the page; the listener goes on."""

    def refuse(*_: object) -> None:
        raise LocalError("The state database is busy.")

    monkeypatch.setattr(watched.archive, "search", refuse)
    page = watched.get()
    assert page.status == 503
    assert "The state database is busy." in page.body
    monkeypatch.setattr(watched.archive, "search", lambda *_: 1 / 0)
    assert watched.get().status == 500
    monkeypatch.undo()
    assert watched.get().status == 200
