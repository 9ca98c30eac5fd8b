"""What people see: a block of every kind, and its list, at 40, 80 and 200 columns.

The screens lie in `golden/`. After a change that is meant, `GOLDEN=write` writes them anew;
then look at the difference.
"""

from pathlib import Path
from typing import Any

import pytest

from support.suite.golden import hold_golden
from support.suite.shapes import SHAPES
from unit.render.samples import KINDS, OWN

pytestmark = pytest.mark.smoke

GOLDEN = Path(__file__).parent / "golden"
WIDTHS = (40, 80, 200)
OWN_WIDTHS = (40, 80, 110, 300)


def compare(name: str, shown: str) -> None:
    """Holds a screen against its file, or writes the file where that is asked for."""
    hold_golden(GOLDEN / f"{name}.txt", shown)


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("kind", KINDS)
def test_block(printed: Any, samples: Any, kind: str, width: int) -> None:
    """A titled block of labelled fields; what does not fit beside its label is under it (R63)."""
    compare(f"{kind}-{width}", printed("human", width).one(samples[kind]))


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("kind", KINDS)
def test_list(printed: Any, samples: Any, kind: str, width: int) -> None:
    """A list is a table that fits, or small blocks where none does (R63)."""
    first = samples[kind]
    second = first | {"id": first["id"][:-1] + "Z", "created": "2025-12-31T22:30:00Z"}
    if kind == "order":
        second |= {"status": "paid", "amount_total": 1234500, "shipping": {"country": "JP"}}
        second |= {"latest_payment": samples["payment"]["id"]}
        second |= {"amount_captured": 1234500, "amount_refunded": 1234500}
    if kind == "payment":
        second |= {"amount_refunded": 1}
    if kind == "payout":
        second |= {"status": "paid", "amount": 9900, "currency": "EUR"}
    compare(f"list-{kind}-{width}", printed("human", width).page(first, second))


@pytest.mark.parametrize("width", OWN_WIDTHS)
def test_what_is_ours(printed: Any, width: int) -> None:
    """The block and the list of each kind that the service has not, with every name it may have."""
    shown = []
    for kind, data in OWN.items():
        assert SHAPES[kind] >= data.keys()
        shown += [printed("human", width).one(data), printed("human", width).page(data)]
    compare(f"own-{width}", "\n".join(shown))


@pytest.mark.parametrize("kind", KINDS)
def test_a_wide_block_only_unwraps(printed: Any, samples: Any, kind: str) -> None:
    """A wide terminal does not scatter a block: it only needs fewer lines for long texts."""
    wide = printed("human", 200).one(samples[kind]).splitlines()
    narrow = printed("human", 80).one(samples[kind]).splitlines()
    assert wide[:4] == narrow[:4]
    assert len(wide) <= len(narrow)
    assert max(map(len, wide)) <= 160


def test_every_screen_belongs_to_a_test() -> None:
    """A file that nothing is held against would pass for a check."""
    names = {
        f"{form}{kind}-{width}.txt" for form in ("", "list-") for kind in KINDS for width in WIDTHS
    }
    assert {path.name for path in GOLDEN.iterdir()} == names | {
        f"own-{width}.txt" for width in OWN_WIDTHS
    }


@pytest.mark.parametrize(("due", "soon"), [("2026-10-03", True), ("2026-10-09", False)])
def test_a_deadline_of_the_next_three_days_stands_out(
    printed: Any, samples: Any, due: str, soon: bool
) -> None:
    """Evidence that is due soon is what nobody should overlook in a list."""
    dispute = samples["dispute"] | {"evidence_due_by": f"{due}T09:00:00Z"}
    shown = printed("human", 80, color=True).page(dispute)
    row = next(line for line in shown.splitlines() if "Oct, in " in line)
    assert ("\x1b[1;35m0" in row) == soon
