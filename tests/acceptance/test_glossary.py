"""The glossary of `src/svc`: a page that cannot go stale."""

import re
from importlib import import_module
from pathlib import Path

import pytest

import svc

TEXT = (Path(svc.__file__).parent / "GLOSSARY.md").read_text(encoding="utf-8")
ROWS = re.findall(r"^\| ([^|]+?) \| `([\w.]+)` \| ([^|]+?) \|$", TEXT, re.MULTILINE)


def look_up(path: str) -> object:
    """The module, class or member at a dotted path below `svc`.

    Raises:
        AttributeError: nothing has that name.
    """
    parts = path.split(".")
    found: object = svc
    for number, part in enumerate(parts, 1):
        if not hasattr(found, part) and hasattr(found, "__path__"):
            import_module(".".join(("svc", *parts[:number])))
        found = getattr(found, part)
    return found


@pytest.mark.parametrize(("term", "path"), [row[:2] for row in ROWS])
def test_a_term_has_its_name_in_the_code(term: str, path: str) -> None:
    """A name that was changed is changed here as well."""
    assert look_up(path), term


def test_every_line_of_a_table_is_read() -> None:
    """About sixty terms, each once, each with a sentence."""
    lines = [line for line in TEXT.splitlines() if line.startswith("|")]
    heads = [line for line in lines if line.startswith(("|---", "| Term "))]
    assert len(ROWS) == len(lines) - len(heads)
    assert 60 <= len({term for term, *_ in ROWS}) == len(ROWS) <= 75
    assert [meaning for *_, meaning in ROWS if not meaning.endswith(".")] == []
