"""`svc quickstart`: runs the main job once, end to end, against a sandbox that it starts.

A demonstration for newcomers: an order is paid, its webhook arrives verified, a part is refunded.
Configuration, state and logs of its processes are kept in a temporary folder.
"""

import json
import os
import shlex
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from functools import cached_property
from pathlib import Path
from typing import Any, Final, TypeVar

from svc.cli.framework.app import make_app, verb
from svc.cli.framework.help_page import fold
from svc.cli.framework.session import Session
from svc.cli.quickstart.processes import DemoTarget, SvcProcesses, environment, run_target
from svc.errors import CheckFailed
from svc.money import format_amount
from svc.render.text import wrap
from svc.system import locks, signals
from svc.system.files import is_mine

Thing = TypeVar("Thing")

_SECONDS = 60.0  # beside much else; who ends earlier is noticed at once
_ORDER = (
    *("--amount", "12900", "--currency", "EUR", "--country", "DE", "--postal-code", "10115"),
    *("--item", "name=Linen jacket,hs_code=6203.39,quantity=1,unit_amount=12900"),
)

app = make_app()


@verb(app)
def quickstart(session: Session) -> None:
    """Start a sandbox, have an order paid, receive its webhook verified, refund a part.

    It runs in a temporary folder with processes of its own and leaves nothing behind.

    $ svc quickstart
    """
    started = session.clock.monotonic()
    stack = ExitStack()
    try:
        story = _Story(session, stack)
        result = story.tell()
    finally:
        with signals.defer_stop():  # undone to its end, also when a signal ends the story
            stack.close()
    seconds = session.clock.monotonic() - started
    story.say(f"\nDone in {seconds:.1f} s: paid, verified, forwarded and refunded.")
    story.say("Next: svc sandbox start --detach\nThen: svc orders create --help")
    if session.format != "human":
        session.out.value({**result, "seconds": round(seconds, 1)})


class _Story:
    """The six steps; each tells the command that does it and what came of it.

    They are told on stdout to people, and on stderr beside a result for programs.
    """

    def __init__(self, session: Session, stack: ExitStack) -> None:
        self._session = session
        self._stack = stack
        self._folder = self._keep(hold_folder())
        self._children = SvcProcesses(environment(session.env, self._folder), session.clock)
        self._step = 0

    def tell(self) -> dict[str, Any]:
        self._start_sandbox()
        target = self._keep(run_target())
        records = self._listen(target)
        order = self._create_order()
        payment = self._pay(order["id"])
        event = self._arrival(target, records, order["id"])
        refund = self._refund(payment)
        return {
            "object": "quickstart",
            "order": order["id"],
            "payment": payment,
            "event": event["id"],
            "verified": True,
            "forwarded": True,
            "refund": refund["id"],
        }

    def _keep(self, context: AbstractContextManager[Thing]) -> Thing:
        return self._stack.enter_context(context)

    def _start_sandbox(self) -> None:
        argv = ("sandbox", "start", "--port", "0", "--db", str(self._folder / "sandbox.db"))
        self._title("A sandbox: the whole service in one process", "sandbox", "start", "--detach")
        ready, log = self._folder / "sandbox.url", self._folder / "sandbox.log"
        process = self._keep(self._children.beside(*argv, "--ready-file", str(ready), log=log))
        self._tell_found(self._children.wait_for(ready, process, log, _SECONDS).strip())

    def _listen(self, target: DemoTarget) -> Path:
        argv = ("events", "listen", "--forward-to", target.url)
        self._title("Webhooks, verified and forwarded to a local address", *argv)
        ready, log = self._folder / "listen.ready", self._folder / "listen.ndjson"
        process = self._keep(
            self._children.beside(*argv, "--ready-file", str(ready), "-o", "ndjson", log=log)
        )
        self._children.wait_for(ready, process, log, _SECONDS)
        self._tell_found("ready")
        return log

    def _create_order(self) -> Any:
        order = self._run("An order to Germany", "orders", "create", *_ORDER)
        total = format_amount(order["amount_total"], order["currency"])
        self._tell_found(order["id"], f"{total} to pay, with duty and VAT")
        return order

    def _pay(self, order: str) -> str:
        paid = self._run("The shopper pays with a test card", "sandbox", "pay", order)
        self._tell_found(paid["payment"]["id"], paid["payment"]["status"])
        return str(paid["payment"]["id"])

    def _arrival(self, target: DemoTarget, records: Path, order: str) -> Any:
        self._title("The webhook arrives")
        event = self._await_forwarded(target, order)
        lines = records.read_text(encoding="utf-8").splitlines()
        told = [json.loads(line) for line in lines if line.startswith("{")]
        seen = any(one.get("id") == event["id"] and one.get("verified") is True for one in told)
        self._tell_found(event["type"], event["id"], "verified" if seen else "NOT VERIFIED")
        if not seen:
            raise CheckFailed("The webhook arrived but was not verified.")
        return event

    def _await_forwarded(self, target: DemoTarget, order: str) -> Any:
        deadline = self._session.clock.monotonic() + _SECONDS
        while (left := deadline - self._session.clock.monotonic()) > 0:
            arrived = signals.wait(target.next, left)
            if arrived is None:
                break
            event = json.loads(arrived)
            if event["type"] == "order.paid" and event["data"]["object"]["id"] == order:
                return event
        raise CheckFailed(f"order.paid did not arrive within {_SECONDS:.0f} s.")

    def _refund(self, payment: str) -> Any:
        argv = ("refunds", "create", "--payment", payment, "--amount", "4999")
        refund = self._run("A partial refund", *argv)
        amount = format_amount(refund["amount"], refund["currency"])
        self._tell_found(refund["id"], f"{refund['status']}, {amount}")
        return refund

    def _run(self, title: str, *argv: str) -> Any:
        self._title(title, *argv)
        return self._children.run(*argv)

    def _title(self, text: str, *argv: str) -> None:
        self._step += 1
        title = wrap(text, (self._width or 80) - 3)
        self.say(f"\n{self._step}  " + "\n   ".join(title))
        if argv:
            command = self._session.program.within(shlex.join(("svc", *argv)))
            lines = fold(command, self._width - 5) if self._width else [command]
            self.say("   $ " + "\n   ".join(lines))

    def _tell_found(self, *texts: str) -> None:
        """Tells what came of a step: on a line, or on several where a terminal is narrow."""
        line = "  ".join(texts)
        fits = not self._width or len(line) + 5 <= self._width
        self.say("     " + (line if fits else "\n       ".join(texts)))

    def say(self, line: str) -> None:
        """Tells a part of the story."""
        line = self._session.program.within(line)
        if self._session.format == "human":
            self._session.out.line(line)
        elif not self._session.out.quiet:
            self._session.stderr.write_masked(line + "\n")
            self._session.stderr.flush()

    @cached_property
    def _width(self) -> int | None:
        streams = self._session.streams
        return streams.width(self._session.env) if streams.person_reads else None


_PREFIX: Final = "svc-quickstart-"
_LOCK: Final = "lock"


@contextmanager
def hold_folder() -> Iterator[Path]:
    """Yields a new temporary folder, locked while it is in use and removed after the block."""
    _remove_left()
    folder, handle = _make_folder()
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        os.close(handle)


def _make_folder() -> tuple[Path, int]:
    while True:
        folder = Path(tempfile.mkdtemp(prefix=_PREFIX))
        handle = locks.open_folder(folder, _LOCK)
        locks.wait_for(handle)
        if folder.exists():
            return folder, handle
        os.close(handle)  # another quickstart took it for one that was left


def _remove_left() -> None:
    """Removes the folders whose lock is not held: their quickstart was killed."""
    for folder in Path(tempfile.gettempdir()).glob(f"{_PREFIX}*"):
        with suppress(OSError):
            if folder.is_symlink() or not is_mine(folder.lstat()):
                continue
            handle = locks.open_folder(folder, _LOCK)
            try:
                if locks.take(handle):
                    shutil.rmtree(folder, ignore_errors=True)
            finally:
                os.close(handle)
