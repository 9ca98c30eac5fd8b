"""The inspector in a real Chromium: live, by keyboard, in light and dark, on a phone, under attack."""

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, ViewportSize, expect

from support.browsing import (
    DESKTOP,
    PHONE,
    Open,
    browser,
    complaints,
    needs_chromium,
    visit_stranger,
    windows,
)
from support.listening import Received, TargetServer, delivery, event, talk
from unit.listen.inspector.attacks import ATTACKS
from unit.listen.inspector.watched import WatchedListener, watching
from unit.sandbox.checkout.windows import CONTRASTS

__all__ = ["browser", "complaints"]  # fixtures

# Every control that a finger hits, with its size; a box is hit through its label.
TOUCHED = """
() => [...document.querySelectorAll("a, button, summary, input, select, label[for=original]")]
  .filter((e) => e.getClientRects().length > 0 && !e.matches("input[type=checkbox]"))
  .map((e) => [e.outerHTML.slice(0, 80), e.getBoundingClientRect().height])
"""

pytestmark = needs_chromium


@pytest.fixture
def target() -> Iterator[TargetServer]:
    """An application that takes everything but payment.failed, which it answers with an attack."""

    def reply(request: Received) -> bytes:
        if b"payment.failed" not in request.body:
            return b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
        said = "\n".join(ATTACKS).encode()[:4000]
        return b"HTTP/1.1 500 Oops\r\nContent-Length: %d\r\n\r\n%s" % (len(said), said)

    with TargetServer(reply) as running:
        yield running


@pytest.fixture
def watched(tmp_path: Path, target: TargetServer) -> Iterator[WatchedListener]:
    """A listener that forwards to it, with an inspector."""
    with watching(tmp_path, target.port) as running:
        yield running


@pytest.fixture
def open_page(browser: Browser, watched: WatchedListener, complaints: list[str]) -> Iterator[Open]:
    """Opens a path below the token."""
    with windows(browser, watched.url, complaints) as opened:
        yield opened


def stock(watched: WatchedListener) -> None:
    """Three deliveries and a rejection."""
    watched.send(event(1))
    watched.send(event(2, "payment.failed"))
    watched.send(event(3, "refund.created"))
    talk(watched.port, delivery(b"{}", Svc_Signature=""))
    watched.settled(3)


def focused(page: Page) -> str:
    """What the keyboard is at: its id, else the end of its address."""
    found: str = page.evaluate(
        "document.activeElement.id || document.activeElement.pathname?.split('/').pop() || ''"
    )
    return found


@pytest.mark.slow
def test_deliveries_arrive_by_themselves(watched: WatchedListener, open_page: Open) -> None:
    """A page that is open shows what comes, says so politely, and shows what became of it."""
    page = open_page("")
    expect(page.get_by_text("Nothing was received yet.")).to_be_visible()
    expect(page.locator("#link")).to_have_text("Live")
    watched.send(event(1))
    expect(page.locator(".row")).to_have_count(1)
    expect(page.get_by_role("status")).to_have_text("1 new")
    expect(page.locator(".row .state")).to_contain_text("200 OK")
    talk(watched.port, delivery(b"{}", Svc_Signature=""))
    expect(page.locator(".row.rejected")).to_have_count(1)


@pytest.mark.slow
def test_open_delivery_is_brought_up_to_date(watched: WatchedListener, open_page: Open) -> None:
    """A replay from elsewhere appears in the delivery that is shown; what was folded stays so."""
    stock(watched)
    page = open_page("delivery/evt_1")
    expect(page.locator("#link")).to_have_text("Live")
    page.get_by_text("Raw", exact=True).click()
    watched.submit("delivery/evt_1/replay", to="")
    expect(page.locator(".attempts li")).to_have_count(2)
    expect(page.locator(".raw pre")).to_be_visible()


@pytest.mark.slow
def test_filter_narrows_while_typing(watched: WatchedListener, open_page: Open) -> None:
    """Text, type and state; the address keeps it, so that it survives a reload."""
    stock(watched)
    page = open_page("")
    expect(page.locator(".row")).to_have_count(4)
    page.get_by_label("Text").fill("evt_3")
    expect(page.locator(".row")).to_have_count(1)
    expect(page).to_have_url(re.compile(r"\?text=evt_3$"))
    page.get_by_label("Text").fill("")
    page.get_by_label("State").select_option("rejected")
    expect(page.locator(".row.rejected")).to_have_count(1)
    expect(page).to_have_url(re.compile(r"\?state=rejected$"))
    page.reload()
    expect(page.locator(".row.rejected")).to_have_count(1)
    page.get_by_role("link", name="Clear").click()
    expect(page.locator(".row")).to_have_count(4)
    page.get_by_label("Type").select_option("payment.failed")
    expect(page.locator(".row")).to_have_count(1)
    expect(page.locator(".row")).to_contain_text("evt_2")


@pytest.mark.slow
def test_keys_move_and_open(watched: WatchedListener, open_page: Open) -> None:
    """Moving with j and k, opening with Enter, leaving with Esc; the browser's back works too."""
    stock(watched)
    page = open_page("")
    expect(page.locator(".row")).to_have_count(4)
    order = []
    for key in ("j", "j", "j", "k"):
        page.keyboard.press(key)
        order.append(focused(page))
    assert order == ["evt_3", "evt_2", "evt_1", "evt_2"]
    page.keyboard.press("j")
    page.keyboard.press("Enter")
    expect(page.locator("#detail-title")).to_be_focused()
    expect(page.locator("#detail-title")).to_have_text("order.paid")
    expect(page.locator(".row[aria-current]")).to_contain_text("evt_1")
    page.keyboard.press("k")
    assert focused(page) == "evt_2"
    page.keyboard.press("Escape")
    expect(page.locator("main")).not_to_have_class("open")
    page.go_back()
    expect(page.locator("#detail-title")).to_have_text("order.paid")


@pytest.mark.slow
def test_keys_replay_and_filter(
    watched: WatchedListener, target: TargetServer, open_page: Open
) -> None:
    """Replaying with r; in the filter, which / leads to, letters are letters."""
    stock(watched)
    page = open_page("delivery/evt_1")
    page.keyboard.press("r")
    expect(page.locator("#said")).to_contain_text("Sent again: 200 OK")
    expect(page.locator("#said")).to_be_focused()
    assert target.ids[3:] == ["evt_1"]
    page.keyboard.press("/")
    assert focused(page) == "text"
    page.keyboard.type("jkr/")
    expect(page.get_by_label("Text")).to_have_value("jkr/")
    expect(page.get_by_text("Nothing fits this filter.")).to_be_visible()
    expect(page.locator("#detail-title")).to_have_text("order.paid")
    page.keyboard.press("Escape")
    assert focused(page) == ""
    assert len(target.received) == 4


@pytest.mark.slow
def test_tab_reaches_every_control(watched: WatchedListener, open_page: Open) -> None:
    """In the order in which they are seen, with the focus in sight."""
    watched.send(event(1))
    watched.settled(1)
    page = open_page("delivery/evt_1")
    way = []
    for _ in range(11):
        page.keyboard.press("Tab")
        way.append(focused(page))
        outline = page.evaluate("getComputedStyle(document.activeElement).outlineStyle")
        assert outline == "solid", way
    assert way[1:9] == ["text", "type", "state", "target", "object", "evt_1", "", "to"]
    assert way[9:] == ["original", ""]


@pytest.mark.slow
def test_replay_by_form_says_what_came_of_it(
    watched: WatchedListener, target: TargetServer, open_page: Open, complaints: list[str]
) -> None:
    """To where it went and to another address; a wrong address is said beside the field."""
    stock(watched)
    page = open_page("delivery/evt_1")
    page.get_by_role("button", name="Replay").click()
    expect(page.locator("#said")).to_contain_text("Sent again: 200 OK")
    expect(page).to_have_url(re.compile(r"delivery/evt_1#?$"))
    with TargetServer() as other:
        page.get_by_label("Replay to").fill(f"{other.port}/elsewhere")
        page.get_by_role("button", name="Replay").click()
        expect(page.locator("#said")).to_contain_text("/elsewhere")
        assert other.ids == ["evt_1"]
    page.get_by_label("Replay to").fill("http://10.0.0.1/")
    page.get_by_role("button", name="Replay").click()
    expect(page.get_by_role("alert")).to_contain_text("it is not on this machine")
    expect(page.get_by_label("Replay to")).to_be_focused()
    watched.send(event(4))
    expect(page.locator(".row")).to_have_count(5)
    expect(page.get_by_role("alert")).to_be_visible()
    assert [one for one in complaints if "status of 400" not in one] == []
    complaints.clear()  # that the form was refused


@pytest.mark.slow
def test_curl_command_is_copied(watched: WatchedListener, open_page: Open) -> None:
    """The button puts the command into the clipboard and says so."""
    stock(watched)
    page = open_page("delivery/evt_1", permissions=["clipboard-read", "clipboard-write"])
    page.get_by_role("link", name="Copy as curl").click()
    expect(page.locator("#said")).to_contain_text("Copied.")
    copied = page.evaluate("navigator.clipboard.readText()")
    assert copied.startswith("curl -sS")


@pytest.mark.slow
def test_page_works_without_javascript(
    watched: WatchedListener, target: TargetServer, open_page: Open
) -> None:
    """List, filter, detail, folding and replay are plain links and forms."""
    stock(watched)
    page = open_page("", java_script_enabled=False)
    page.get_by_label("State").select_option("forwarded")
    page.get_by_role("button", name="Filter").click()
    page.locator(".row").last.click()
    expect(page.locator("#detail-title")).to_have_text("order.paid")
    page.get_by_text("Raw", exact=True).click()
    expect(page.locator(".raw pre")).to_be_visible()
    page.get_by_role("button", name="Replay").click()
    expect(page.get_by_text("Sent again: 200 OK")).to_be_visible()
    assert len(target.received) == 4
    expect(page.locator("#keys")).to_be_hidden()


@pytest.mark.slow
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_text_stands_out(watched: WatchedListener, open_page: Open, scheme: str) -> None:
    """4.5 to 1 for text and 3 to 1 for the edges of fields, in light and in dark."""
    stock(watched)
    page = open_page(color_scheme=scheme)
    for path in ("", "delivery/evt_1", "delivery/evt_2", "rejected/1", "?text=none"):
        page.goto(watched.url + path)
        expect(page.locator("#link")).to_have_text("Live")
        found = page.evaluate(CONTRASTS)
        assert found
        assert [each for each in found if each[1] < each[2]] == [], path
    background = page.evaluate("getComputedStyle(document.body).backgroundColor")
    darkness = sum(int(part) for part in background[4:-1].split(",")) < 3 * 128
    assert darkness == (scheme == "dark")


@pytest.mark.slow
@pytest.mark.parametrize("width", [320, 360])
def test_everything_fits_a_phone(watched: WatchedListener, open_page: Open, width: int) -> None:
    """Nothing sticks out, a finger hits everything, list and detail take turns."""
    stock(watched)
    watched.send(event(4, note="W" * 900, deep={"x" * 300: {"y" * 200: ["z"]}}))
    watched.settled(4)
    size: ViewportSize = {"width": width, "height": 740}
    page = open_page(size=size, is_mobile=True, has_touch=True)
    for path in ("", "delivery/evt_2", "delivery/evt_4", "rejected/1"):
        page.goto(watched.url + path)
        expect(page.locator("#link")).to_have_text("Live")
        assert page.evaluate("document.documentElement.scrollWidth") == width, path
        touched = page.evaluate(TOUCHED)
        assert touched, path
        assert [each for each in touched if each[1] < 44] == [], path
        expect(page.locator("#deliveries")).to_be_visible(visible=not path)
    page.get_by_role("link", name="All deliveries").tap()
    expect(page.locator("#deliveries")).to_be_visible()
    expect(page.locator("#detail")).to_be_hidden()


@pytest.mark.slow
def test_the_filter_is_folded_on_a_phone(watched: WatchedListener, open_page: Open) -> None:
    """The list comes first; what narrows it stays in sight, and a wide window needs no folding."""
    stock(watched)
    page = open_page("", size=PHONE)
    expect(page.get_by_label("Text")).to_be_hidden()
    page.get_by_text("Filter", exact=True).first.click()
    page.get_by_label("State").select_option("rejected")
    expect(page.locator(".row")).to_have_count(1)
    page.reload()
    expect(page.get_by_label("State")).to_be_visible()
    page.set_viewport_size(DESKTOP)
    expect(page.get_by_label("Text")).to_be_visible()
    expect(page.locator("#fold > summary")).to_be_hidden()
    page.set_viewport_size(PHONE)
    page.get_by_role("link", name="Clear").click()
    expect(page.get_by_label("Text")).to_be_hidden()
    page.keyboard.press("/")
    assert focused(page) == "text"


@pytest.mark.slow
def test_controls_have_names(watched: WatchedListener, open_page: Open) -> None:
    """Every field, button, link and region is named for those who do not see it."""
    stock(watched)
    page = open_page("delivery/evt_2")
    nameless = page.evaluate(
        """() => [...document.querySelectorAll("a, button, input, select, section, nav, summary")]
          .filter((e) => e.getClientRects().length > 0)
          .filter((e) => !(e.labels?.length || e.textContent.trim() || e.ariaLabel))
          .map((e) => e.outerHTML)"""
    )
    assert nameless == []
    levels = page.evaluate("[...document.querySelectorAll('h1, h2, h3')].map((e) => e.tagName)")
    assert levels[0] == "H1"
    expect(page.get_by_role("status").first).to_have_attribute("aria-live", "polite")


# --- attacks ----------------------------------------------------------------------------------


@pytest.mark.slow
def test_hostile_strings_run_nothing(watched: WatchedListener, open_page: Open) -> None:
    """64 of them in keys, values, types, headers, replies, filter and field: all stay text."""
    assert len(ATTACKS) == 64
    hostile = {f"{number}{attack}": attack for number, attack in enumerate(ATTACKS)}
    watched.send(event(1, "payment.failed", hostile=hostile, list=list(ATTACKS)))
    for attack in ATTACKS[::8]:
        talk(watched.port, delivery(b"{}", Svc_Signature="", X_Odd=attack.replace("\n", " ")))
    watched.settled(1)
    page = open_page()
    page.add_init_script("window.owned = false")
    paths = ["", "delivery/evt_1", *(f"rejected/{number}" for number in range(1, 9))]
    for path in paths:
        page.goto(watched.url + path)
        expect(page.locator("#link")).to_have_text("Live")
        assert page.evaluate("window.owned") is False
    page.goto(f"{watched.url}delivery/evt_1")
    shown = page.locator(".tree .string").all_text_contents()
    assert {
        json.dumps(attack, ensure_ascii=False) for attack in ATTACKS if attack.isprintable()
    } <= {*shown}
    for attack in ATTACKS[::8]:
        page.get_by_label("Text").fill(attack.replace("\n", " "))
        page.get_by_label("Text").press("Enter")
    expect(page.locator("#deliveries")).to_be_visible()
    assert page.evaluate("window.owned") is False
    assert page.evaluate("document.querySelectorAll('script').length") == 1
    assert page.evaluate("document.querySelectorAll('img, iframe, svg, object, style').length") == 0


@pytest.mark.slow
def test_strangers_page_cannot_replay(
    watched: WatchedListener, target: TargetServer, open_page: Open, complaints: list[str]
) -> None:
    """Even one that knows the token sends nothing: no form, no request, no script of ours."""
    watched.send(event(1))
    watched.settled(1)
    action = f"{watched.url}delivery/evt_1/replay"
    page = open_page()
    visit_stranger(
        page, f'<form method="post" action="{action}"><button name="to">Win</button></form>'
    )
    with page.expect_response(action) as answer:
        page.get_by_role("button").click()
    assert answer.value.status == 403
    page = open_page()
    visit_stranger(page, f'<script src="{watched.url}script.js"></script><p>there</p>')
    expect(page.get_by_text("there")).to_be_visible()
    read = page.evaluate(
        "(url) => fetch(url).then((answer) => answer.text(), () => 'unread')", watched.url
    )
    assert read == "unread"
    page.evaluate(
        "(url) => fetch(url, {method: 'POST', mode: 'no-cors', body: new URLSearchParams('to=')})"
        ".catch(() => 0)",
        action,
    )
    assert len(target.received) == 1
    complaints.clear()  # that the stranger was refused is what the browser tells the stranger
