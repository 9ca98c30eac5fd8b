"""The fidelity table (promise R80), as `svc help assumptions` shows it, and how it is written down.

A text is a few sections. `== SUBJECT | SPEC SECTION` begins one, `@ TEST` names
the test of the rows below it, and a row is `NAME | says | TEXT` or `NAME | chose | TEXT`.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, Literal

from svc.sandbox.fidelity import (
    access,
    controls,
    conventions,
    errors,
    events,
    goods,
    money,
    operations,
)

Mark = Literal["says", "chose"]
MARKS: Final[dict[str, Mark]] = {"says": "says", "chose": "chose"}
TESTS: Final = "tests/"


@dataclass(frozen=True, slots=True)
class FidelityRow:
    """One fact: `says` the specification, or it does not show it and we `chose`.

    `section` is where the specification speaks of the subject. `test` is the node id of a test that
    fails when the sandbox behaves otherwise.
    """

    subject: str
    name: str
    what: str
    mark: Mark
    section: str
    test: str


def parse(text: str) -> Iterator[FidelityRow]:
    """Reads the rows of a text.

    Raises:
        KeyError, ValueError: a line is none of the three kinds.
    """
    subject = section = test = ""
    for line in text.strip().splitlines():
        if line.startswith("== "):
            subject, section = line.removeprefix("== ").split(" | ")
        elif line.startswith("@ "):
            test = TESTS + line.removeprefix("@ ")
        elif line:
            name, mark, what = line.split(" | ")
            yield FidelityRow(subject, name, what, MARKS[mark], section, test)


_TEXTS: Final = (
    operations.TEXT,
    conventions.TEXT,
    access.TEXT,
    goods.TEXT,
    money.TEXT,
    events.TEXT,
    errors.TEXT,
    controls.TEXT,
)
ROWS: Final[tuple[FidelityRow, ...]] = tuple(row for text in _TEXTS for row in parse(text))
