"""Parses the text of a command line to values: `-d` assignments, JSON bodies, paths, `--item`.

`sending` merges options, files and `-d` here to the body of a POST; `fields` and the verbs of `svc
sandbox` parse single options, `svc get` and `post` check their path. `times` parses durations and
dates.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final, TextIO

from svc.client.amounts import amount_option, parse_whole_number
from svc.errors import UsageError
from svc.inputs import STDIN, read_text
from svc.json_text import NotJson, parse_given

# Texts, not patterns: few commands look at any, and compiling one takes as long as ten calls.
_PATH: Final = r"(?P<head>[^\[\]=:]+)(?P<rest>(?:\[[^\[\]]*\])*)"
_PART: Final = r"\[([^\[\]]*)\]"


def parse_path(text: str) -> list[str]:
    """Splits `items[0][name]` into `["items", "0", "name"]`; `events[]` ends with an empty part.

    Raises:
        UsageError: when the brackets do not pair.
    """
    match = re.fullmatch(_PATH, text)
    if match is None:
        raise UsageError(
            f"{text!r} is not a field path.",
            hint="Write a field inside another with brackets, such as shipping[country] or "
            "items[0][name]",
        )
    return [match["head"], *re.findall(_PART, match["rest"])]


def put(body: dict[str, Any], path: list[str], value: Any) -> None:
    """Sets one value, making the objects and lists on the way.

    Raises:
        UsageError: when a path leaves a gap in a list.
    """
    here: Any = body
    for part, following in zip(path, [*path[1:], None], strict=True):
        fresh = value if following is None else ([] if _is_index(following) else {})
        if isinstance(here, list):
            here = _into_list(here, part, fresh, path, last=following is None)
        else:
            if following is None or not isinstance(here.get(part), dict | list):
                here[part] = fresh
            here = here[part]


def format_path(path: list[str]) -> str:
    """Writes a path with its brackets."""
    return path[0] + "".join(f"[{part}]" for part in path[1:])


def _is_index(part: str) -> bool:
    """Whether a part is a position in a list; `00` is a name, or `a[00]` would be a second a[0]."""
    return part in ("", "0") or (part.isascii() and part.isdigit() and part[0] != "0")


def _into_list(here: list[Any], part: str, fresh: Any, path: list[str], *, last: bool) -> Any:
    if not _is_index(part):
        raise UsageError(f"{format_path(path)}: {part!r} is not a position in a list.")
    index = int(part) if part else len(here)
    if index > len(here):
        raise UsageError(f"{format_path(path)} leaves a gap: position {len(here)} comes first.")
    if index == len(here):
        here.append(fresh)
    elif last or not isinstance(here[index], dict | list):
        here[index] = fresh
    return here[index]


_ASSIGNMENT: Final = r"(?s)(?P<path>[^=]+?)(?P<operator>:?=)(?P<at>@?)(?P<value>.*)"
_ITEM_FIELD: Final = r",(?=\s*[a-z_]+=)"
_FILE_MAX = 16 * 1024 * 1024

BodyFields = dict[str, Any]
ReadFile = Callable[[str], str]


def build_body(
    *, base: str | None, typed: BodyFields, data: Sequence[str], read: ReadFile
) -> BodyFields:
    """Merges a JSON object (`base`), the typed options that were given, then `-d` on top.

    Raises:
        UsageError: a text cannot be parsed, or an option or another `-d` gives the same field;
            nothing was sent.
    """
    given = set(_leaves(typed))
    body = {} if base is None else parse_object(read(base), "--body")
    for name, value in typed.items():
        if isinstance(value, dict) and isinstance(body.get(name), dict):
            body[name].update(value)
        elif value is not None and value != {}:
            body[name] = value
    for text in data:
        path, value = parse_assignment(text, read)
        _refuse_second_value(given, path)
        given |= set(_leaves(value, tuple(path)))
        put(body, path, value)
    return body


def _leaves(value: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """Yields the path of each plain value in a value."""
    if isinstance(value, list):
        value = {str(index): inner for index, inner in enumerate(value)}
    if isinstance(value, dict):
        for name, inner in value.items():
            yield from _leaves(inner, (*path, name))
    else:
        yield path


def _refuse_second_value(given: set[tuple[str, ...]], path: list[str]) -> None:
    """Refuses a path that has a value, lies inside one, or goes around one; `list[]` only adds."""
    new = tuple(path)
    if any(new[: len(each)] == each[: len(new)] for each in given if "" not in new):
        raise UsageError(
            f"{format_path(path)} is given twice.",
            code="given_twice",
            param=format_path(path),
            hint="Give it by an option or by one -d",
        )


def parse_assignment(text: str, read: ReadFile) -> tuple[list[str], Any]:
    """Reads `PATH=TEXT`, `PATH:=JSON`, `PATH=@FILE` or `PATH:=@FILE`."""
    match = re.fullmatch(_ASSIGNMENT, text)
    if match is None:
        raise UsageError(f"-d {text!r} has no '='.", hint="Write -d PATH=TEXT or -d PATH:=JSON")
    value: Any = read(match["value"]) if match["at"] else match["value"]
    if match["operator"] == ":=":
        value = parse_json(value, f"-d {match['path']}")
    return parse_path(match["path"]), value


def parse_object(text: str, source: str) -> BodyFields:
    """Reads a JSON object."""
    value = parse_json(text, source)
    if not isinstance(value, dict):
        raise UsageError(f"{source} must be a JSON object, as in {{...}}.", param=source)
    return value


def parse_json(text: str, source: str) -> Any:
    """Reads JSON strictly, as rows of a batch are read; numbers keep their spelling."""
    try:
        return parse_given(text.removeprefix("\ufeff"))
    except NotJson as error:
        where = " at line {}, column {}".format(*error.place) if error.place else ""
        hint = "Text goes with '=', JSON with ':='" if source.startswith("-d") else None
        raise UsageError(
            f"{source} is not valid JSON{where}: {error}.", param=source, hint=hint
        ) from None


def parse_item(text: str, currency: str | None, read: ReadFile | None = None) -> BodyFields:
    """Reads `name=Jacket,quantity=1,unit_amount=12900`; commas in names are fine.

    Raises:
        UsageError: as `pairs_of` does, or a name is nearly a documented one.
    """
    from svc.client.fields import check_name, tree_of
    from svc.client.options import item_placeholder
    from svc.service.goods import ITEM

    known = tree_of(ITEM)
    item: BodyFields = {}
    for part in re.split(_ITEM_FIELD, text):
        name, equals, value = part.strip().partition("=")
        if not equals:
            hint = f"Write --item '{item_placeholder(ITEM)}'"
            raise UsageError(f"--item {text!r} is not a list of name=value.", hint=hint)
        check_name(known, name, "")
        _refuse_repeated(item, name, "--item")
        item[name] = _item_value(name, text_of(value, f"--item {name}", read), currency)
    return item


def file_reader(stdin: TextIO) -> ReadFile:
    """Makes the function that reads a named file, or standard input for `-`, which it does once."""
    known: set[str] = set()

    def read(name: str) -> str:
        if name == STDIN and name in known:
            raise UsageError(
                "Standard input was already read: it can be read only once.", code="given_twice"
            )
        known.add(name)
        return read_text(name, stdin.buffer, _FILE_MAX)

    return read


def _item_value(name: str, value: str, currency: str | None) -> str | int | None:
    if name == "unit_amount":
        return amount_option(value, "unit_amount", currency, minimum=0)
    if name == "quantity":
        return parse_whole_number(value, name, is_text=True, is_money=False)
    return value


def without_empty(**fields: Any) -> BodyFields:
    """Returns the given fields; None and empty objects or lists are left out."""
    return {name: value for name, value in fields.items() if value not in (None, {}, [])}


def pairs_of(
    texts: Sequence[str] | None,
    option: str,
    hint: str | None = None,
    read: ReadFile | None = None,
) -> dict[str, str]:
    """Reads repeated `KEY=TEXT` options; an empty text is kept, since it clears a field.

    `hint` is the error's hint for a word without `=`. `read` reads the file of `KEY=@FILE`;
    without it `@FILE` is refused.

    Raises:
        UsageError: a word is no pair, a key is given twice, a file cannot be read, or `@FILE` is
            refused.
    """
    found: dict[str, str] = {}
    for text in texts or []:
        key, equals, value = text.partition("=")
        if not equals or not key:
            named = option.startswith("--")
            what = f"{option} {text!r} is not KEY=TEXT." if named else f"{text!r} is not {option}."
            takes = f"{option} KEY=@{text} takes the text of a file" if named and read else None
            raise UsageError(what, param=option, hint=hint or takes)
        _refuse_repeated(found, key, option)
        found[key] = text_of(value, f"{option} {key}", read)
    return found


def _refuse_repeated(found: Mapping[str, object], name: str, option: str) -> None:
    if name in found:
        raise UsageError(f"{option} has {name} twice.", code="given_twice", param=option)


def text_of(text: str, named: str, read: ReadFile | None) -> str:
    """Returns a typed text as it is, or for `@FILE` the content of the file.

    Raises:
        UsageError: the file cannot be read, or there is no `read`, so that `@FILE` is refused.
    """
    if not text.startswith("@"):
        return text
    if read is None:
        raise UsageError(
            f"{named} takes no file.",
            code="file_not_taken",
            param=named.split(maxsplit=1)[0],
            hint="-d PATH=@FILE takes one; for the text itself: -d 'PATH:=\"@...\"'",
        )
    try:
        return read(text.removeprefix("@"))
    except UsageError as error:
        error.hint = error.hint or "@FILE reads a file; for the text itself: -d 'PATH:=\"@...\"'"
        raise


def refuse_bare_path(target: str, name: str, argv: Sequence[str]) -> None:
    """Refuses a path such as `v1/orders`, which lacks its first slash.

    Raises:
        UsageError: it names the argument (`name`); its hint is the corrected command line `argv`.
    """
    if target.startswith("v1/"):
        import shlex

        words = (f"/{word}" if word == target else word for word in argv)
        raise UsageError(f"{target!r} is not a path.", param=name, hint=shlex.join(("svc", *words)))


def without(argv: Sequence[str], option: str, beginning: str = "") -> list[str]:
    """Returns a command line without an option; with `beginning` only where its value begins so."""
    kept: list[str] = []
    words = iter(argv)
    for word in words:
        if word.startswith(f"{option}={beginning}"):
            continue
        if word == option:
            value = next(words, "")
            if not value.startswith(beginning):
                kept += [word, value]
            continue
        kept.append(word)
    return kept
