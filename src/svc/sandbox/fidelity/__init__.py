"""The fidelity table (promise R80), as `svc help assumptions` shows it, and how it is written down.

It stands in `fidelity.txt`. `== SUBJECT | SPEC SECTION` begins a section, `@ TEST` names the test
of the rows below it, and a row is `NAME | says | TEXT` or `NAME | chose | TEXT`; of an error code
the description of the API has the text.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from importlib.resources import files
from typing import Final, Literal

from svc.service.errors import CODES

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
            name, mark, *texts = line.split(" | ")
            what = texts[0] if texts else "{0.status}, {0.meaning}.".format(CODES[name])
            yield FidelityRow(subject, name, what, MARKS[mark], section, test)


_TEXT: Final = files(__package__).joinpath("fidelity.txt").read_text(encoding="utf-8")
ROWS: Final[tuple[FidelityRow, ...]] = tuple(parse(_TEXT))
