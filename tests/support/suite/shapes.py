"""The names that the JSON of `svc` holds, in objects of its own and of the sandbox's controls.

`Svc` holds each run against `shapes.txt`, so that no test has to say it again: scripts read these
names. A new one is added there by hand, behind its kind; `error` has the codes of svc's errors,
which are held wherever one is made.
"""

import json
import re
from collections.abc import Iterator
from functools import wraps
from pathlib import Path
from typing import Any, Final, get_args

from svc.errors import Outcome, SvcError

_LINES: Final = Path(__file__).with_name("shapes.txt").read_text(encoding="utf-8").splitlines()
SHAPES: Final[dict[str, set[str]]] = {}
for _kind, *_held in map(str.split, _LINES):
    SHAPES.setdefault(_kind, set()).update(_held)
_SERVICE: Final = frozenset(
    "order payment refund payout landed_cost_quote dispute event webhook_endpoint payment_method "
    "list".split()
)
# What the user, the service or a file names.
_OTHERS: Final = frozenset(
    "answered body expected headers libraries limits metadata params payload permissions profiles sent "
    "settings tables variables".split()
)
_OUTCOMES: Final = (None, *get_args(Outcome))
_BLANK: Final = re.compile(r"\bNone\b|  ")


def hold(text: str) -> None:
    """Fails where what a run has printed holds an object or a name that is not known."""
    for data in _documents(text):
        for one in data if isinstance(data, list) else [data]:
            _hold_object(one)


def watch_errors(kind: type[Any]) -> None:
    """Has each error of a kind fail whose code or outcome is not known, or whose words lack a value.

    Called once in a process; what a service says is its own.
    """
    made = kind.__init__

    @wraps(made)
    def init(self: Any, *words: Any, **told: Any) -> None:
        made(self, *words, **told)
        assert self.outcome in _OUTCOMES, f"no outcome of a request: {self.outcome}"
        if (
            self.code
            and self.code.islower()
            and not (isinstance(self, SvcError) and self.status is not None)
        ):
            assert self.code in SHAPES["error"], f"shapes.txt has no code {self.code}"
            said = f"{self.message} {told.get('hint', '')}"
            assert not _BLANK.search(said.removesuffix(" None")), said

    kind.__init__ = init


def _documents(text: str) -> Iterator[Any]:
    for part in [text] if text.startswith(("[", "{\n")) else text.splitlines():
        if part.startswith(("[", "{")):
            try:
                yield json.loads(part)
            except ValueError:
                continue


def _hold_object(data: Any) -> None:
    kind = data.get("object") if isinstance(data, dict) else None
    if not isinstance(kind, str):
        return
    if kind in _SERVICE:
        found = data.get("data") if kind == "list" else None
        for one in found if isinstance(found, list) else ():
            _hold_object(one)
        return
    assert kind in SHAPES, f"shapes.txt has no kind {kind}"
    unknown = {name for name in _names(data) if "." not in name} - SHAPES[kind]
    assert not unknown, f"shapes.txt has no {sorted(unknown)} of {kind}"


def _names(data: Any) -> Iterator[str]:
    """All names of an object but those of another one in it, which has a line of its own."""
    if isinstance(data, dict):
        for name, value in data.items():
            yield name
            if name not in _OTHERS:
                yield from _inside(value)
    elif isinstance(data, list):
        for value in data:
            yield from _inside(value)


def _inside(value: Any) -> Iterator[str]:
    if isinstance(value, dict) and "object" in value:
        _hold_object(value)
    else:
        yield from _names(value)
