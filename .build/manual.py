"""Manual pages out of what `svc commands -o json` says; a test sees that they are up to date.

To write them again:

    svc commands -o json | python3 .build/manual.py
"""

import json
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Final

FOLDER: Final = Path(__file__).parent / "man1"
_SHARED: Final = {
    "request": "Options of requests",
    "list": "Options of lists",
    "preview": "Options that show a request in place of sending it",
    "global": "Options of every command",
}
_VALUES_MAX: Final = 20  # more of them are codes that everybody knows: currencies, countries


def pages(document: dict[str, Any]) -> dict[str, str]:
    """Gives each page's name and text: one of the program, one of each word behind `svc`."""
    commands = document["commands"]
    words = [command for command in commands if " " not in command["name"]]
    found = {"svc.1": _lines(_program(document, words))}
    for word in words:
        below = [one for one in commands if one["name"].startswith(f"{word['name']} ")]
        found[f"svc-{word['name']}.1"] = _lines(_word(word, below))
    return found


def _program(document: dict[str, Any], words: list[dict[str, Any]]) -> Iterator[str]:
    yield from _head("svc", "operate a merchant's account from the command line")
    yield ".SH SYNOPSIS"
    yield _usage("svc", ["COMMAND", "[OPTIONS]"])
    section = ""
    for word in words:
        if word["section"] != section:
            section = word["section"]
            yield f".SH {_quoted(section.upper())}"
        yield from _entry(rf"\fBsvc\-{_text(word['name'])}\fR(1)", word["summary"])
    for group, title in (("own", "Options of svc itself"), *_SHARED.items()):
        yield f".SH {_quoted(title.upper())}"
        yield from _options(document["options"][group])
    yield ".SH ENVIRONMENT"
    for variable in document["environment"]:
        yield from _entry(rf"\fB{_text(variable['name'])}\fR", variable["meaning"])
    yield ".SH EXIT STATUS"
    for code in document["exit_codes"]:
        yield from _entry(rf"\fB{code['code']}\fR", code["meaning"])
    yield from _see_also("svc COMMAND --help", "svc help")


def _word(word: dict[str, Any], below: list[dict[str, Any]]) -> Iterator[str]:
    yield from _head(f"svc-{word['name']}", word["summary"].partition(". ")[0].rstrip("."))
    yield ".SH SYNOPSIS"
    for number, command in enumerate(below or [word]):
        if number:
            yield ".PP"
        yield _usage(f"svc {command['name']}", _operands(command))
    yield ".SH DESCRIPTION"
    yield from _command(word)
    if below:
        yield ".SH COMMANDS"
    for command in below:
        yield f".SS {_quoted('svc ' + command['name'])}"
        yield from _command(command)
    yield from _see_also(f"svc {word['name']} --help")


def _command(command: dict[str, Any]) -> Iterator[str]:
    for number, paragraph in enumerate(command["help"].split("\n\n")):
        if number:
            yield ".PP"
        yield _text(" ".join(paragraph.split()))
    for argument in command["arguments"]:
        yield from _entry(rf"\fI{_text(argument['metavar'])}\fR", _meaning(argument))
    yield from _options(command["options"])
    groups = [_SHARED[group].lower() for group in command["option_groups"] if group != "global"]
    if groups:
        yield ".PP"
        yield rf"It takes the {' and the '.join(groups)} as well; \fBsvc\fR(1) has them."
    if command["examples"]:
        yield ".PP"
        yield "For example:"
        yield from (".PP", ".nf", ".RS 4")
        yield from (_text(example) for example in command["examples"])
        yield from (".RE", ".fi")


def _options(options: list[dict[str, Any]]) -> Iterator[str]:
    for option in options:
        value = rf" \fI{_text(option['metavar'])}\fR" if option["metavar"] else ""
        names = (rf"\fB{_text(name)}\fR" for name in (*option["names"], *option["negatives"]))
        yield from _entry(", ".join(names) + value, _meaning(option))


def _meaning(parameter: dict[str, Any]) -> str:
    parts = [parameter["help"]]
    values = parameter["values"] or ()
    if parameter["closed"] and len(values) <= _VALUES_MAX and values[0] not in parameter["help"]:
        parts.append(f"One of {', '.join(values)}.")
    if facts := list(_facts(parameter)):
        parts.append(f"{facts[0][0].upper()}{'; '.join(facts)[1:]}.")
    if parameter.get("environment"):
        parts.append(f"Else what {parameter['environment']} says.")
    return " ".join(part if part.endswith(".") else f"{part}." for part in parts if part)


def _facts(parameter: dict[str, Any]) -> Iterator[str]:
    """Default and limits, and what must be given; of an argument the usage says that."""
    default, low, high = (parameter.get(name) for name in ("default", "minimum", "maximum"))
    if default not in (None, False, ""):
        yield f"default: {str(default).removesuffix('.0')}"
    if low is not None:
        yield f"at least {low}" if high is None or high >= 2**31 else f"{low} to {high}"
    if "names" in parameter and parameter["required"]:
        yield "required"
    if "names" in parameter and parameter["repeatable"] and "epeatable" not in parameter["help"]:
        yield "repeatable"


def _operands(command: dict[str, Any]) -> Iterator[str]:
    for argument in command["arguments"]:
        more = "..." if argument["repeatable"] else ""
        shown = argument["metavar"].strip("[]") + more
        yield shown if argument["required"] else f"[{shown}]"
    yield "[OPTIONS]"


def _head(name: str, summary: str) -> Iterator[str]:
    yield r".\" Made by .build/manual.py of what `svc commands` says."
    yield f'.TH {_quoted(name.upper())} 1 "" "svc" "svc manual"'
    yield from (".nh", ".ad l", ".SH NAME")
    yield rf"{_text(name)} \- {_text(summary)}"


def _usage(name: str, operands: Iterable[str]) -> str:
    return rf"\fB{_text(name)}\fR {_text(' '.join(operands))}"


def _entry(tag: str, meaning: str) -> Iterator[str]:
    yield ".TP"
    yield tag
    yield _text(meaning) or r"\&"


def _see_also(*commands: str) -> Iterator[str]:
    yield ".SH SEE ALSO"
    yield ", ".join((r"\fBsvc\fR(1)", *(rf"\fB{_text(command)}\fR" for command in commands)))


def _text(text: str) -> str:
    r"""Text that roff prints as it stands: `-` is what a shell takes, no line is a request."""
    safe = text.replace("\\", r"\e").replace("-", r"\-").replace("'", r"\(aq")
    safe = safe.replace("`", r"\(ga").replace("^", r"\(ha").replace("~", r"\(ti")
    return rf"\&{safe}" if safe.startswith((".", "'")) else safe


def _quoted(text: str) -> str:
    return '"' + _text(text).replace('"', r"\(dq") + '"'


def _lines(lines: Iterable[str]) -> str:
    return "\n".join(lines) + "\n"


def _write() -> None:
    """Puts the pages in the place of those that are there."""
    made = pages(json.load(sys.stdin))  # before anything goes: what cannot be read costs no page
    FOLDER.mkdir(exist_ok=True)
    for old in FOLDER.iterdir():
        old.unlink()
    for name, text in made.items():
        (FOLDER / name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    _write()
