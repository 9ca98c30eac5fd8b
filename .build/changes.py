"""Makes the page of `svc help changes` and README's section of the fragments in `.changes`.

`python3 .build/changes.py` writes both. A folder there is a version, newest first with `next` on
top; a fragment is a file of one line: `added: TEXT`, `changed: TEXT` for what scripts may notice,
or `fixed: TEXT`. At a release `next` is renamed.
"""

import re
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parent.parent
PAGE: Final = ROOT / "src" / "svc" / "cli" / "help" / "changes.txt"
README: Final = ROOT / "README.md"
_KINDS: Final = ("changed", "added", "fixed")
_SECTION: Final = re.compile(r"(?<=\n## Changes\n\n).*\Z", re.DOTALL)


def versions(folder: Path) -> list[tuple[str, list[tuple[str, str]]]]:
    """Each version with its changes, as kind and text: those that scripts notice first.

    Raises:
        ValueError: a fragment is none.
    """
    names = sorted((one.name for one in folder.iterdir()), key=_age, reverse=True)
    return [(name, _fragments(folder / name)) for name in names]


def _age(name: str) -> tuple[int, ...]:
    return (10**6,) if name == "next" else tuple(int(part) for part in name.split("."))


def _fragments(folder: Path) -> list[tuple[str, str]]:
    found = []
    for file in sorted(folder.glob("*.md")):
        kind, mark, text = file.read_text(encoding="utf-8").strip().partition(": ")
        if kind not in _KINDS or not mark or "\n" in text:
            raise ValueError(f"{file}: one line is wanted, {', '.join(_KINDS)} and a text")
        found.append((kind, text))
    return sorted(found, key=lambda each: _KINDS.index(each[0]))


def page(changes: list[tuple[str, list[tuple[str, str]]]]) -> str:
    """The text of `svc help changes`."""
    parts = ["Changes", "What changed for scripts stands first in each version."]
    for name, found in changes:
        parts.append(f"== {_title(name)}")
        parts += [f"{kind.capitalize()}: {text.replace('`', '')}" for kind, text in found]
    return "\n\n".join(parts) + "\n"


def section(changes: list[tuple[str, list[tuple[str, str]]]]) -> str:
    """README's section, without its title."""
    blocks = ["`svc help changes` shows the same; what changed for scripts stands first."]
    for name, found in changes:
        lines = [f"- {kind.capitalize()}: {text}" for kind, text in found]
        blocks.append("\n".join([f"**{_title(name)}**", "", *lines]))
    return "\n\n".join(blocks) + "\n"


def _title(name: str) -> str:
    return "Since the last release" if name == "next" else name


def main() -> None:
    """Writes both."""
    changes = versions(ROOT / ".changes")
    PAGE.write_text(page(changes), encoding="utf-8")
    readme = README.read_text(encoding="utf-8")
    README.write_text(_SECTION.sub(lambda _: section(changes), readme), encoding="utf-8")


if __name__ == "__main__":
    main()
