"""The lines of a sandbox's requests, and the thread that writes them."""

import threading
from types import SimpleNamespace
from typing import Any

import pytest

from support.suite.patience import until
from svc.cli.sandbox.served import RequestLines, RequestsShown
from svc.render.layout import LineLayout
from svc.render.style import paint

NOON = 43200.5


class Written(list[str]):
    """Stands in for stdout: what was written, each piece flushed before the next."""

    def write(self, text: str) -> None:
        self.append(text)

    write_masked = write

    def flush(self) -> None:
        self.append("")


def lines(out: Any, *, width: int | None = None, color: bool = False) -> RequestLines:
    layout = LineLayout(width, color=color, utc=True, tick="")
    streams = SimpleNamespace(stdout=None)
    session: Any = SimpleNamespace(stdout=out, streams=streams, layout=lambda _: layout)
    return RequestLines(session)


@pytest.mark.parametrize(
    ("width", "method", "status", "line"),
    [
        (None, "GET", 200, "12:00:00.500  GET   /v1/a  200  3 ms\n"),
        (80, "POST", None, "12:00:00.500  POST  /v1/a  no answer  3 ms\n"),
        (40, "DELETE", 404, "12:00:00  DELETE  /v1/a  404  3 ms\n"),
    ],
)
def test_a_request_is_a_line(width: int | None, method: str, status: int | None, line: str) -> None:
    out = Written()
    lines(out, width=width).show(NOON, method, "/v1/a", status, "3 ms")
    assert out == [line, ""]


def test_status_has_the_colour_of_how_it_went() -> None:
    """Good, wrong at the caller's, wrong here; what is unknown has no cell."""
    for status, style in (
        *((200, "good"), (399, "good"), (400, "attention"), (499, "attention")),
        *((500, "bad"), (599, "bad"), (None, "bad")),
    ):
        out = Written()
        lines(out, color=True).show(NOON, "GET", "/", status, "")
        assert out[0].endswith(f"  {paint(str(status or 'no answer'), style)}\n"), status
        assert out[0].startswith(paint("12:00:00.500", "quiet"))


def test_a_terminal_that_is_held_up_holds_up_nothing_else() -> None:
    """A thousand wait for it, and what is more is counted; a closed one ends nothing."""
    held, let_go = threading.Event(), threading.Event()

    class Held(Written):
        def write(self, text: str) -> None:
            held.set()
            let_go.wait(60)
            if text.startswith("12:00:00.500  GET   /1 "):
                raise BrokenPipeError
            super().write(text)

        write_masked = write

    out = Held()
    shown = RequestsShown(lines(out))
    shown.show(NOON, "GET", "/first", 200, "")
    assert held.wait(60)
    for number in range(1003):
        shown.show(NOON, "GET", f"/{number}", 200, "")
    let_go.set()
    until(lambda: not shown._waiting.qsize())
    shown.close()
    told = [line for line in out if line]
    assert (told[0][-12:], told[1]) == ("/first  200\n", "... 3 more, not shown\n")
    assert len(told) == 1001
    assert told[-1].endswith("/999  200\n")
    assert not shown._thread.is_alive()
