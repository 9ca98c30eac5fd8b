"""Rows of the fidelity table, and how they are written down (promise R80).

A text is a few sections. `== SUBJECT | SPEC SECTION` begins one, `@ TEST` names
the test of the rows below it, and a row is `NAME | says | TEXT` or `NAME | chose | TEXT`.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, Literal

Mark = Literal["says", "chose"]
MARKS: Final[dict[str, Mark]] = {"says": "says", "chose": "chose"}
TESTS: Final = "tests/"


@dataclass(frozen=True, slots=True)
class Row:
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


def parse(text: str) -> Iterator[Row]:
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
            yield Row(subject, name, what, MARKS[mark], section, test)
