"""Figures that people read follow their constants: in help, in README and in messages (R134)."""

import re
from pathlib import Path
from runpy import run_path
from typing import Any

import pytest

import svc as program
from unit.service.copies import Copy

ROOT = Path(program.__file__).parents[2]


def writer() -> dict[str, Any]:
    """What `.build/figures.py` has."""
    return run_path(str(ROOT / ".build" / "figures.py"))


def test_the_readme_has_the_figures_as_they_are() -> None:
    """`python .build/figures.py` writes them anew."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert writer()["filled"](text) == text


def test_another_retention_stands_in_the_readme(monkeypatch: pytest.MonkeyPatch) -> None:
    """A constant is changed, and what README says of it with it."""
    monkeypatch.setattr("svc.delivery.journal.journal.KEPT_SECONDS", 30 * 24 * 3600)
    monkeypatch.setattr("svc.client.retry.KEY_SAFE_SECONDS", 11 * 3600)
    filled = writer()["filled"]((ROOT / "README.md").read_text(encoding="utf-8"))
    assert "forgotten after 30 days" in filled
    assert "After 11 hours it refuses" in filled


def test_every_name_leads_to_a_figure() -> None:
    """None of them is zero, and none is asked for that is not there."""
    made = writer()
    assert [name for name in made["FIGURES"] if int(made["figure"](name)) < 1] == []
    assert set(re.findall(r"{(\w+)}", " ".join(made["PHRASES"]))) <= set(made["FIGURES"])


# Where each constant stands, another value, and command lines that say it then, with the words.
CHANGED = (
    ("delivery/journal/journal.py", "KEPT_SECONDS: Final = 90 ", "KEPT_SECONDS: Final = 30 "),
    ("delivery/plan.py", "EFFECT_OLD_SECONDS: Final = 12 ", "EFFECT_OLD_SECONDS: Final = 5 "),
    (
        "delivery/journal/transaction.py",
        "RECENT_SECONDS: Final = 600",
        "RECENT_SECONDS: Final = 1260",
    ),
    ("client/retry.py", "KEY_SAFE_SECONDS = 23 ", "KEY_SAFE_SECONDS = 21 "),
    ("service/facts.py", "LIMIT_DEFAULT: Final = 25", "LIMIT_DEFAULT: Final = 35"),
    ("service/facts.py", "RETENTION_SECONDS: Final = 24 ", "RETENTION_SECONDS: Final = 22 "),
    ("service/facts.py", "TOLERANCE_SECONDS: Final = 300", "TOLERANCE_SECONDS: Final = 420"),
    ("service/facts.py", '    "order.paid",\n', '    "order.paid",\n    "order.seen",\n'),
    ("listen/inbox/forgetting.py", "KEEP_SECONDS: Final = 30 ", "KEEP_SECONDS: Final = 31 "),
    ("listen/forward/signing.py", "LATE_SECONDS: Final = 240", "LATE_SECONDS: Final = 180"),
    ("keys/age.py", "MAX_AGE_SECONDS: Final = 90 ", "MAX_AGE_SECONDS: Final = 80 "),
)
SAID = {
    "requests list --help": "forgotten after 30 days",
    "requests resume --help": "After 21 hours",
    "batch --help": "5 hours ago or more",
    "refunds list --help": "(default: 35)",
    "events listen --help": "all 19",
    "events prune --help": "after 31 days",
    "help webhooks": "older than 7 minutes",
    "help money": "within 21 minutes",
    "help team": "older than 7 minutes",
    "help reminders": "(80 days)",
}
MESSAGE = """
from svc.client.retry import explain_repeat
from svc.delivery.journal import refusals
print(explain_repeat("key"), refusals._RequestWords.kept_hours, refusals._RequestWords.safe_hours)
"""


@pytest.mark.slow(seconds=8)
@pytest.mark.limit(120)
def test_help_and_messages_follow_every_constant(tmp_path: Path) -> None:
    """Each is changed on a copy of the program, in one place."""
    copy = Copy(tmp_path)
    for path, before, after in CHANGED:
        copy.replace(path, before, after)
    for line, words in SAID.items():
        assert words in " ".join(copy.svc(line).split()), line
    assert "22 hours" in " ".join(copy.svc("batch --help").split())
    assert "than 3 minutes" in " ".join(copy.svc("help webhooks").split())
    said = copy.python("-c", MESSAGE)
    assert "Within 21 hours" in said
    assert said.split()[-2:] == ["22", "21"]
