"""What is made of the tree of commands and checked in: it has what the parsers have now."""

from pathlib import Path

from support.running import build_script
from svc.cli.commands import document
from svc.cli.commands.tree import tree
from svc.cli.framework.options import options_of
from svc.completion import SHELLS

ROOT = Path(__file__).parents[4]


def test_manual_and_completions_are_made_of_the_commands_that_there_are() -> None:
    """If not: `svc commands -o json | python3 .build/manual.py` and `.build/completions.py`."""
    options_of.cache_clear()
    found = tree()
    made = build_script("manual").pages(document(found))
    made |= {name: build_script("completions").script(one, found) for one, name in SHELLS.items()}
    stored = {
        page.name: page.read_text(encoding="utf-8")
        for folder in (ROOT / ".build" / "man1", ROOT / "completions")
        for page in folder.iterdir()
    }
    assert sorted(stored) == sorted(made)
    assert [name for name in stored if stored[name] != made[name]] == []
