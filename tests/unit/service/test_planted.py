"""25 one-fact errors, planted one at a time in the description, are each noticed by quick tests (R134)."""

import os
import subprocess
import sys
from pathlib import Path
from shutil import copytree, ignore_patterns
from typing import Final, NamedTuple

import pytest

import svc

TESTS: Final = Path(__file__).parents[2]
# What a plain run has of the description: a defect has to show in one of these.
NOTICING: Final = ("unit/service/test_specification.py", "unit/service/test_assumptions.py")


class Planted(NamedTuple):
    """A wrong fact: in a file, a text and what is put in its place, the first time or the last."""

    file: str
    right: str
    wrong: str


ERRORS: Final = (
    Planted("facts", "LIMIT_DEFAULT: Final = 25", "LIMIT_DEFAULT: Final = 20"),
    Planted("facts", "24 * 3600", "12 * 3600"),
    Planted("facts", 'NounFacts("rf_"', 'NounFacts("re_"'),
    Planted("facts", "(60, 600, 3600)", "(60, 300, 3600)"),
    Planted("facts", '    "order.cancelled",\n', ""),
    Planted("orders", "required=True, example=12900", "example=12900"),
    Planted("orders", 'choice("automatic", "manual")', 'choice("automatic", "by_hand")'),
    Planted("orders", 'proof="equal",\n            label="Settles in"', 'label="Settles in"'),
    Planted("orders", 'step="/cancel"', 'step="/void"'),
    Planted("orders", 'money="capture order {order}"', 'money=""'),
    Planted("orders", 'answered_as="amount_captured"', 'answered_as="amount"'),
    Planted("orders", 'total="amount_captured"', 'total="amount"'),
    Planted("payments", '"authorized", "captured"', '"captured"'),
    Planted("refunds", '"create list"', '"create"'),
    Planted("refunds", 'proof="same"', 'proof="equal"'),
    Planted("refunds", '"requested_by_customer"', '"requested"'),
    Planted("refunds", 'final=("succeeded", "failed")', 'final=("succeeded",)'),
    Planted("model", "    clearable=False,\n", ""),
    Planted("payouts", "text(35)", "text(140)"),
    Planted(
        "payouts",
        '(("iban",), ("account_number", "bank_code"))',
        '(("iban",), ("account_number",))',
    ),
    Planted("payouts", 'amount(1, "source_currency")', "amount(1)"),
    Planted("landed_cost_quotes", '"landed-cost/quotes"', '"landed-cost-quotes"'),
    Planted("webhook_endpoints", 'encoding="form"', 'encoding="json"'),
    Planted("disputes", '"submit",\n', '"submits",\n'),
    Planted("goods", "integer(1, 100_000)", "integer(0, 100_000)"),
)


def noticed(folder: Path, error: Planted | None) -> bool:
    """Whether the tests of the description fail where it is wrong."""
    house = Path(svc.__file__).parent
    (folder / "svc").mkdir()
    (folder / "svc/__init__.py").write_bytes((house / "__init__.py").read_bytes())
    copytree(house / "service", folder / "svc/service", ignore=ignore_patterns("__pycache__"))
    if error is not None:
        path = folder / f"svc/service/{error.file}.py"
        text = path.read_text(encoding="utf-8")
        assert error.right in text
        path.write_text(text.replace(error.right, error.wrong, 1), encoding="utf-8")
    plain = ("--noconftest", "-c", os.devnull, "--rootdir", str(TESTS))
    without = (
        "svc.pytest_plugin",
        "xdist",
        "randomly",
        "cacheprovider",
        "schemathesis",
        "hypothesispytest",
    )
    off = (word for name in without for word in ("-p", f"no:{name}"))
    words = [sys.executable, "-m", "pytest", "-q", "-x", *plain, *off]
    done = subprocess.run(
        [*words, *(str(TESTS / one) for one in NOTICING)],
        cwd=TESTS.parent,
        env={**os.environ, "PYTHONPATH": str(folder)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode in (0, 1), done.stdout
    return done.returncode == 1


@pytest.mark.parametrize(
    "error",
    [
        # Every other one in the gate, all with SVC_TEST_LONG=1.
        pytest.param(
            each,
            id=f"{each.file}: {each.right.strip()[:30]}",
            marks=pytest.mark.slow(seconds=2, rare=number % 2 == 1),
        )
        for number, each in enumerate(ERRORS)
    ],
)
def test_a_wrong_fact_is_noticed(error: Planted, tmp_path: Path) -> None:
    """By the plain tests of the description."""
    assert noticed(tmp_path, error)


@pytest.mark.slow(seconds=2)
def test_the_facts_as_they_are_pass(tmp_path: Path) -> None:
    """So that what is noticed above is the error."""
    assert len(ERRORS) == 25
    assert not noticed(tmp_path, None)
