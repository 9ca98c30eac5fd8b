"""The fidelity table: for each behaviour of the sandbox, whether the specification says it (R80).

`svc help assumptions` prints `ROWS`; `svc sandbox compare` asks another service by their probes.
They are read from `fidelity.txt`: `== SUBJECT | SPEC SECTION` begins a section, `@ TEST` names the
test of the rows below it, a row is `NAME | says | TEXT` or `NAME | chose | TEXT` (an error code has
its text from `service.errors`), and the probe of a row is `? REQUEST | ANSWERED | EXPECTED | WHEN`
with, where needed, `! MEANS | SETTING=VALUE | INSTEAD`. `requests.toml` has the requests, which
`svc.cli.sandbox.compare` sends in the order of the file.
"""

import tomllib
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from importlib.resources import files
from typing import Any, Final, Literal

from svc import service
from svc.service.errors import CODES

Mark = Literal["says", "chose"]
MARKS: Final[dict[str, Mark]] = {"says": "says", "chose": "chose"}
TESTS: Final = "tests/"
MADE_MAX: Final = 40  # requests that make an object, repetitions included


@dataclass(frozen=True, slots=True)
class Probe:
    """How a service is asked whether a row holds for it.

    Attributes:
        request: the name of the request in `requests.toml`.
        whether_taken: whether this row is the one that reports a request that was taken, or
            refused, against what is expected.
        answered: a JMESPath expression for the value to look at in the answer.
        expected: a JMESPath expression over the same answer for the value that the sandbox has.
        when: a JMESPath expression that must hold for the row to be judged; empty for always.
        means: what a difference means, in words; empty where the request says it.
        setting: the setting with which the sandbox behaves so too, as `NAME=VALUE`; `*` stands for
            the value that was answered.
        alternative: the value that speaks for the setting; empty for any but the expected one.
    """

    request: str
    whether_taken: bool
    answered: str
    expected: str
    when: str = ""
    means: str = ""
    setting: str = ""
    alternative: str = ""


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
    probe: Probe | None = None


def parse(text: str) -> Iterator[FidelityRow]:
    """Reads the rows of a text; raises KeyError, TypeError, ValueError: a line is of no kind."""
    subject = section = test = ""
    row: FidelityRow | None = None
    for line in text.strip().splitlines():
        if line.startswith(("? ", "! ")):
            row = _with_probe(row, line[0], line[2:].split(" | "))
            continue
        if row is not None:
            yield row
            row = None
        if line.startswith("== "):
            subject, section = line.removeprefix("== ").split(" | ")
        elif line.startswith("@ "):
            test = TESTS + line.removeprefix("@ ")
        elif line:
            name, mark, *texts = line.split(" | ")
            what = texts[0] if texts else "{0.status}, {0.meaning}.".format(CODES[name])
            row = FidelityRow(subject, name, what, MARKS[mark], section, test)
    if row is not None:
        yield row


def _with_probe(row: FidelityRow | None, mark: str, parts: list[str]) -> FidelityRow:
    if row is None:
        raise ValueError(parts)
    if mark == "?":
        request, *expressions = parts
        name = request.removesuffix("*")
        return replace(row, probe=Probe(name, name != request, *expressions))
    if row.probe is None:
        raise ValueError(parts)
    means, setting, alternative = (*parts, "", "")[:3]
    return replace(
        row, probe=replace(row.probe, means=means, setting=setting, alternative=alternative)
    )


_TEXT: Final = files(__package__).joinpath("fidelity.txt").read_text(encoding="utf-8")
ROWS: Final[tuple[FidelityRow, ...]] = tuple(parse(_TEXT))


@dataclass(frozen=True, slots=True)
class ProbeRequest:
    """One request of `requests.toml`, whose head describes the fields."""

    name: str
    send: str
    means: str
    body: dict[str, Any] | None = None
    form: bool = False
    raw: str | None = None
    key: str = ""
    headers: dict[str, str] = field(default_factory=dict)
    auth: str = ""
    refused: bool = False
    needs: str = ""
    endpoint: bool = False

    @property
    def creates(self) -> bool:
        """Whether it makes an object where it is taken."""
        return self.send in {f"POST {noun.path}" for noun in service.nouns()}


def read_requests() -> dict[str, ProbeRequest]:
    """The requests by name, in the order that they are sent."""
    text = files(__package__).joinpath("requests.toml").read_text(encoding="utf-8")
    return {name: ProbeRequest(name, **rest) for name, rest in tomllib.loads(text).items()}
