"""What must hold of every history, whatever the service, the wire and the machine have done to it.

The service's list of effects is the truth. Each rule names what a person would lose by its breach.
"""

import json
import os
from collections import Counter
from pathlib import Path
from typing import Any, Final

from simulation.machine import Process
from simulation.service import Effect, Identity
from simulation.wishes import Wish
from simulation.world import EMPTY, KEYS, World, account_of, said_by
from svc.client.exchange import WireRequest
from svc.delivery.evidence import DONE_BY_HAND

_OPEN: Final = ("open", "unknown")
_BEFORE: Final = (2, 4, 6, 10)  # exit codes of what is found before anything is sent
_NEVER: Final = ("refused", "not_sent")
_HOUR: Final = 3600.0
_KEYS_BEGIN: Final = b"sk_test_"


class ViolationError(AssertionError):
    """A rule was broken."""


class Judge:
    """Watches one history.

    Attributes:
        singles: how many times a person meant each request by single commands, by account.
        lists: how often each request stands in each list.
    """

    def __init__(self, world: World) -> None:
        self.world = world
        self.singles: Counter[tuple[str, Identity]] = Counter()
        self.lists: dict[tuple[str, str], Counter[Identity]] = {}
        self.again: Counter[tuple[str, Identity]] = Counter()
        self._meant_twice: set[Identity] = set()
        self._broken: ViolationError | None = None
        world.network.on_post = self._posted
        world.network.is_known = self._is_known

    # --- before a command ---

    def means_single(self, process: Process, wish: Wish) -> None:
        """A person begins a single command; one that is unresolved is meant as the same."""
        if process.new_request:
            self._meant_twice.add(wish.what)
        if process.new_request or not self._unresolved(process.account, wish.what):
            self.singles[process.account, wish.what] += 1

    def means_resume(self, process: Process, identifier: str) -> None:
        """A person asks for one request by its id; what was never carried out is meant anew."""
        row = self._row(identifier)
        if row is None:
            return
        # By a proxy's answer that was another account's, the keys of both seem to be of one.
        seems_own = self.world.network.has_crossed and (
            account_of(row["key_hint"]) != process.account
        )
        if row["state"] == "not_sent" or seems_own:
            self.singles[process.account, said_by(row)] += 1

    def means_list(self, process: Process, name: str, wishes: list[Wish], *, again: bool) -> None:
        """A person begins a list; rows that stand in several lists are meant once."""
        counts = Counter(wish.what for wish in wishes)
        if again:
            self._meant_twice.update(counts)
            for what, count in counts.items():
                self.again[process.account, what] += count
        self.lists[process.account, name] = (
            self.lists.get((process.account, name), Counter()) | counts
        )

    # --- while it runs ---

    def _posted(self, key: str, request: WireRequest) -> None:
        """The same request, unresolved, stops every other way to send it (promise R91)."""
        process = self.world.machine.process
        if key in process.posted:
            return
        process.posted.add(key)
        rows = self.world.requests()
        own = [row for row in rows if row["idempotency_key"] == key]
        if not own:
            self._breaks(f"{key} left, and the journal does not know it")
            return
        mine, what = own[0], said_by(own[0])
        if process.new_request or what in self._meant_twice or mine["sendings"] > 1:
            return
        for row in rows:
            sibling = row["batch_id"] is not None and row["batch_id"] == mine["batch_id"]
            other = row["idempotency_key"] != key and not sibling and row["state"] in _OPEN
            if other and account_of(row["key_hint"]) == process.account and said_by(row) == what:
                self._breaks(f"{mine['id']} left while {row['id']} says the same, unresolved")

    def _breaks(self, words: str) -> None:
        """Remembers it for `look`: a process must not see it."""
        self._broken = self._broken or ViolationError(words)

    def _is_known(self, body: bytes) -> bool:
        """Whether the journal has an answer's object on record."""
        known = {row["object_id"] for row in self.world.requests()}
        return json.loads(body)["id"] in known

    def _unresolved(self, account: str, what: Identity) -> bool:
        return any(
            row["state"] in _OPEN
            and account_of(row["key_hint"]) == account
            and said_by(row) == what
            for row in self.world.requests()
        )

    # --- after a command ---

    def told_single(self, process: Process, wish: Wish | None) -> None:
        """What a single command or a resume says is so."""
        self._no_bug(process)
        if process.code is None:
            return
        if process.code == 0:
            self._told_done(process, _document(process.out.getvalue()).get("id"), wish)
            return
        error = _error(process)
        outcome = error.get("outcome")
        effects = self._denied(process, process.posted)
        if outcome == "done" and process.posted and not self._proofs(process):
            raise ViolationError(f"exit {process.code} says done, and nothing was")
        if outcome in _NEVER and effects:
            raise ViolationError(
                f"exit {process.code} says {outcome}, and {effects[0].id} was made"
            )
        if outcome == "not_sent" and process.code in _BEFORE and process.posted:
            raise ViolationError(f"exit {process.code} says that nothing was sent, and it was")
        if process.code == 7 and not self._row(error.get("request")):
            raise ViolationError(
                f"exit 7 names {error.get('request')}, which is not in the journal"
            )

    def told_list(self, process: Process, wishes: list[Wish]) -> None:
        """What a batch says of each row is so."""
        self._no_bug(process)
        sent_nothing = process.code in _BEFORE and _error(process).get("outcome") == "not_sent"
        if sent_nothing and process.posted:
            raise ViolationError(f"exit {process.code} says that nothing was sent, and it was")
        lines = self._lines(process)
        if process.code == 0 and sorted(line["row"] for line in lines) != [
            *range(1, len(wishes) + 1)
        ]:
            raise ViolationError("exit 0, and the results lack rows")
        ids: set[str] = set()
        for line in lines:
            is_by_hand = (line["error"] or {}).get("code") == DONE_BY_HAND
            true = self._true_by_hand if is_by_hand else self._true_line
            true(process, line, wishes[line["row"] - 1])
            if line["outcome"] == "done" and line["idempotency_key"] in ids:
                raise ViolationError(f"two rows are done by one request: {line}")
            ids.add(line["idempotency_key"])
        if process.code == 0 and any(line["outcome"] != "done" for line in lines):
            raise ViolationError("exit 0, and not every row is done")
        if process.code == 9 and all(line["outcome"] == "done" for line in lines):
            raise ViolationError("exit 9, and every row is done")

    def look(self) -> None:
        """The journal agrees with the service, and nothing was done more often than meant."""
        if self._broken is not None:
            raise self._broken
        # Two accounts that run one batch have one key for a row: the service keeps them apart.
        rows = self.world.requests()
        known = {row["idempotency_key"] for row in rows}
        for key, effects in self.world.service.by_key.items():
            if len(effects) > 1:
                raise ViolationError(f"{effects[0].id} and {effects[1].id} were made with one key")
            if key not in known:
                raise ViolationError(f"{effects[0].id} was made, and the journal does not know it")
        # Another profile has a record of its own for the key, and evidence is joined by the key.
        sent = {row["idempotency_key"] for row in rows if row["state"] not in _NEVER}
        for row in rows:
            if row["state"] not in _NEVER or row["idempotency_key"] not in sent:
                self._true_row(row, row["idempotency_key"])
        self._as_often_as_meant()
        self._within_limits()

    def clean(self) -> None:
        """No key is in anything that the program leaves behind."""
        disk = self.world.disk
        texts = [self.world.journal.serialize()]
        for folder in (disk.state, disk.lists):
            texts += [
                Path(entry.path).read_bytes()
                for entry in os.scandir(folder)
                if entry.is_file() and entry.name != EMPTY
            ]
        for text in texts:
            if _KEYS_BEGIN in text and any(key.encode() in text for key in KEYS):
                raise ViolationError(f"a key was written to the disk: {text!r}")

    # --- inside ---

    def _as_often_as_meant(self) -> None:
        counts = Counter((one.account, one.what) for one in self.world.service.effects)
        for (account, what), count in counts.items():
            rows = [each[what] for (owner, _), each in self.lists.items() if owner == account]
            meant = self.singles[account, what] + max(rows, default=0) + self.again[account, what]
            if count > meant:
                raise ViolationError(f"{count} effects of {what} for {meant} that were meant")

    def _within_limits(self) -> None:
        """No hour of true time, wherever it begins, has more effects than a limit allows."""
        for group, text in self.world.limits.items():
            most = int(text.split()[0]) * 100
            word = {"captures": "capture"}.get(group, group)
            made = [one for one in self.world.service.effects if one.what[0].endswith(word)]
            for last in made:
                moved = sum(self._moved(one) for one in made if 0 <= last.at - one.at < _HOUR)
                if moved > most:
                    raise ViolationError(f"{moved} of {group} within an hour, {most} are allowed")

    def _moved(self, effect: Effect) -> int:
        made = self.world.service.objects[effect.account, effect.id]
        return int(made.get("amount_captured", made["amount"]))

    def _true_row(self, row: dict[str, Any], key: str) -> None:
        account = account_of(row["key_hint"])
        effects = [one for one in self.world.service.by_key.get(key, []) if one.account == account]
        if row["state"] == "done":
            effects = self._done(key, account, said_by(row))
            if not effects:
                raise ViolationError(f"{row['id']} is kept as done, and nothing was done")
            contradicted = row["error_code"] == "reply_contradiction"  # it may name anything
            if not contradicted and row["object_id"] not in (None, effects[0].id):
                raise ViolationError(
                    f"{row['id']} is kept as {row['object_id']}, it was {effects[0].id}"
                )
        elif row["state"] in _NEVER and effects:
            raise ViolationError(
                f"{row['id']} is kept as {row['state']}, and {effects[0].id} was made"
            )

    def _done(self, key: str, account: str, what: Identity) -> list[Effect]:
        """What proves that a request was carried out.

        Two cancellations of one order are one: nobody can tell whose answer it is, nor needs to.
        """
        own = [one for one in self.world.service.by_key.get(key, []) if one.account == account]
        if not own and what[0].startswith("/v1/orders/"):
            return [one for one in self.world.service.effects if one.what == what]
        return [one for one in own if one.what == what]

    def _proofs(self, process: Process) -> list[Effect]:
        """What proves that something of a process was carried out."""
        return [
            effect
            for row in self.world.requests()
            if row["idempotency_key"] in process.posted
            for effect in self._done(row["idempotency_key"], process.account, said_by(row))
        ]

    def _told_done(self, process: Process, identifier: object, wish: Wish | None) -> None:
        found = [
            effect
            for effect in self._proofs(process)
            if effect.id == identifier and (wish is None or effect.what == wish.what)
        ]
        if not found:
            raise ViolationError(f"exit 0 shows {identifier}, which is not what was asked for")

    def _true_by_hand(self, process: Process, line: dict[str, Any], wish: Wish) -> None:
        """The key is that of the single command, whose account need not be the list's."""
        made = self.world.service.by_key.get(line["idempotency_key"], [])
        if line["id"] not in [one.id for one in made if one.what == wish.what]:
            raise ViolationError(f"row {line['row']} is told as done by hand, and it was not")

    def _true_line(self, process: Process, line: dict[str, Any], wish: Wish) -> None:
        key, outcome = line["idempotency_key"], line["outcome"]
        if outcome == "done":
            own = self._done(key, process.account, wish.what)
            if not own:
                raise ViolationError(f"row {line['row']} is told as done, and it was not")
            row = self._row(line["request"]) or {}
            contradicted = row.get("error_code") == "reply_contradiction"
            if not contradicted and line["id"] not in (None, own[0].id):
                raise ViolationError(
                    f"row {line['row']} is told as {line['id']}, it was {own[0].id}"
                )
        elif outcome in _NEVER and (denied := self._denied(process, {key})):
            raise ViolationError(
                f"row {line['row']} is told as {outcome}, and {denied[0].id} was made"
            )
        elif outcome == "invalid":
            raise ViolationError(f"row {line['row']} is told as invalid: {line}")
        elif outcome == "unknown" and line["request"] and not self._row(line["request"]):
            raise ViolationError(f"row {line['row']} names a request that is not in the journal")

    def _lines(self, process: Process) -> list[dict[str, Any]]:
        if not process.results or process.code not in (0, 9):
            return []
        texts = process.results.split("\n")
        if texts.pop():
            raise ViolationError("the results end in half a line")
        return [json.loads(text) for text in texts]

    def _no_bug(self, process: Process) -> None:
        if process.bug is not None:
            raise process.bug
        if process.code == 1 and _error(process).get("type") == "bug":
            reports = sorted((self.world.disk.state / "reports").iterdir())
            raise ViolationError(f"a bug: {reports[-1].read_text()}")
        if any(key in process.out.getvalue() + process.err.getvalue() for key in KEYS):
            raise ViolationError("the key was printed")

    def _denied(self, process: Process, keys: set[str]) -> list[Effect]:
        """What makes a lie of a process's word that nothing was made: its own, and what there was.

        What another process made after its end is no lie of its: a list that was stopped is begun
        again in another window, and sends the rows that the first has not sent.
        """
        found = [
            effect for key in sorted(keys) for effect in self.world.service.by_key.get(key, [])
        ]
        made = self.world.network.made
        return [
            effect
            for effect in found
            if made[effect.id][0] is process or made[effect.id][1] < process.ended_at
        ]

    def _row(self, identifier: object) -> dict[str, Any] | None:
        return next((row for row in self.world.requests() if row["id"] == identifier), None)


def _document(text: str) -> dict[str, Any]:
    found = json.loads(text)
    return found if isinstance(found, dict) else {}


def _error(process: Process) -> dict[str, Any]:
    for line in reversed(process.err.getvalue().splitlines()):
        if line.startswith("{"):
            found = json.loads(line)["error"]
            return found if isinstance(found, dict) else {}
    return {}
