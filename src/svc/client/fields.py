"""Checks the body of a request before it is sent, by the description of its operation.

Single commands, `svc post` and the rows of a batch all use `check_body`. An unknown field is
allowed: the service may have it. A name that is similar to a known field is refused: a refund with
`amout` would return the whole payment.

`cli.framework.sending` and `batch.validate` call it: an operation and a body in, nothing or a
UsageError out.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import Any, Final, NamedTuple, TypeAlias

from svc import service
from svc.client.amounts import parse_whole_number
from svc.client.options import RequestOption, options_of
from svc.errors import UsageError
from svc.nearest import slips
from svc.service.facts import ID_PREFIXES
from svc.service.model import Field, Kind

BodyPath: TypeAlias = tuple[str, ...]
# Names and what may stand inside them: `*` is any position of a list. An empty tree allows any
# content.
FieldTree: TypeAlias = Mapping[str, "FieldTree"]


class Incomplete(UsageError):  # noqa: N818  it describes a body
    """A body lacks required fields; `rows` are their options."""

    def __init__(self, operation: str, rows: Sequence[RequestOption]) -> None:
        *others, last = (_with_place(row) for row in rows)
        are = f"{', '.join(others)} and {last} are" if others else f"{last} is"
        param = format_bracket_path(rows[0].path)
        super().__init__(f"{are} missing.", code="parameter_missing", param=param)
        self.operation = operation
        self.rows = tuple(rows)


def _with_place(row: RequestOption) -> str:
    """Formats the bracket path of a missing field, and those of its alternatives."""
    instead = " with ".join(name.lstrip("-").replace("-", "_") for name in row.instead)
    return format_bracket_path(row.path) + (f" (or {instead})" if instead else "")


def check_body(
    operation: str,
    body: Mapping[str, Any],
    *,
    is_form: bool,
    is_raw: bool = False,
    typed: Sequence[str] = (),
) -> None:
    """Checks one body of one operation, such as `refunds.create`, before it is sent.

    The rules: no name is similar to that of a field (promise R97); whole numbers are valid, and
    text in a form (promise R98); a currency or country is a code in capital letters; an id has a
    prefix of its kind; a new object has all required fields. The content of metadata and evidence
    is free, and an unknown operation has no rules.

    `is_raw` is for a POST by its path: required fields may be absent, and an id is only refused if
    it has the prefix of another kind. `typed` are the values of `-d`, which hints correct.

    Raises:
        Incomplete: a required field is missing.
        UsageError: another of these rules is broken; `param` is the field in brackets.
    """
    rules = rules_of(operation)
    if rules is None:
        return
    _check_names(rules.takes, body, typed)
    currency = body.get("currency")
    for path, kind in rules.kinds:
        for name, value in _values(body, path) if path[0] in body else ():
            if kind.type in _WHOLE:
                parse_whole_number(
                    value,
                    name,
                    minimum=kind.minimum,
                    currency=currency if isinstance(currency, str) else None,
                    is_text=is_form,
                    is_money=kind.type == "amount",
                )
            elif value not in (None, ""):
                _check_text(rules, kind, path, name, value, is_raw=is_raw)
    lacking = () if is_raw else tuple(_find_missing(rules, body))
    if lacking:
        raise Incomplete(operation, lacking)


def check_value(operation: str, name: str, value: object) -> None:
    """Checks a code or id by the kind of a field of the operation's noun; raises UsageError."""
    rules = rules_of(operation)
    kind = rules.kind_of((name,)) if rules is not None else None
    if rules is not None and kind is not None and kind.type not in _WHOLE:
        _check_text(rules, kind, (name,), name, str(value), is_raw=False)


def check_filters(path: str, filters: Mapping[str, str]) -> None:
    """Refuses an id of another kind among the filters of the list at a path.

    Raises:
        UsageError: the id is of another kind; the hint says how to find the right one.
    """
    noun = service.resource_at(path)
    for field in noun.list_given("list") if noun is not None else ():
        if field.kind.type == "identifier" and field.name in filters:
            _check_identifier(field.kind, field.name, filters[field.name], is_raw=True)


class BodyRules(NamedTuple):
    """The rules for the bodies of one operation.

    Attributes:
        takes: the fields that the request may have.
        kinds: the kinds of all fields of the noun, also of those that this request does not take:
            the service decides whether it takes them.
        options: in the order of the help.
        needed: the required options, with their alternatives.
    """

    takes: FieldTree
    kinds: tuple[tuple[BodyPath, Kind], ...]
    options: tuple[RequestOption, ...]
    needed: tuple[tuple[RequestOption, tuple[RequestOption, ...]], ...]

    def kind_of(self, path: BodyPath) -> Kind | None:
        """The kind of the field at a path, or None."""
        return next((kind for known, kind in self.kinds if known == path), None)


_WHOLE: Final = ("amount", "integer")
_HELD: Final = (*_WHOLE, "currency", "country", "identifier")


@cache
def rules_of(operation: str) -> BodyRules | None:
    """The rules of an operation such as `refunds.create`; None if it is unknown."""
    known = service.operation(operation)
    if known is None:
        return None
    noun, action = known
    given = noun.list_given(action.verb)
    own = {field.name for field in given}
    every = (*given, *(field for field in noun.fields if field.name not in (*own, *_OWN)))
    kinds = tuple((path, kind) for path, kind in every_kind(every) if kind.type in _HELD)
    options = options_of(operation)
    by_name = {row.name: row for row in options}
    needed = tuple(
        (row, tuple(by_name[name] for name in row.instead)) for row in options if row.is_needed
    )
    return BodyRules(tree_of(given), kinds, options, needed)


_OWN: Final = ("id",)  # of what is answered; where a row has one, it is of the object it changes


def tree_of(fields: Sequence[Field], *, answered: bool = False) -> FieldTree:
    """The tree of the names of fields and their members; `answered` includes read-only fields."""
    return {
        field.name: _inner_tree(field.kind, answered=answered)
        for field in fields
        if answered or not field.made
    }


def _inner_tree(kind: Kind, *, answered: bool) -> FieldTree:
    inner = tree_of(kind.inner, answered=answered)
    return {"*": inner} if kind.entry is not None and inner else inner


def every_kind(fields: Sequence[Field], within: BodyPath = ()) -> Iterator[tuple[BodyPath, Kind]]:
    """Yields the path and kind of each field, also of members of objects and lists."""
    for field in fields:
        path = (*within, field.name)
        yield path, field.kind
        if field.kind.inner:
            yield from every_kind(field.kind.inner, (*path, "*") if field.kind.entry else path)


def _as_typed(typed: Sequence[str], wrong: str, hint: str) -> str | None:
    """The typed value of `-d` with the corrected name; None if the name was not in a `-d`."""
    for text in typed:
        path = re.split(":?=", text, maxsplit=1)[0]
        if path == wrong or path.startswith(f"{wrong}["):
            right = hint.removeprefix(_WRITE) + text.removeprefix(wrong)
            return f"-d '{right}'" if "'" not in right else None
    return None


# --- kinds ---------------------------------------------------------------------------------------

_CODES: Final = {  # letters, what it is, the service's own code for one that is wrong
    "currency": (3, "three capital letters, such as EUR", "currency_invalid"),
    "country": (2, "two capital letters, such as DE", "country_code_invalid"),
}


def _check_text(
    rules: BodyRules, kind: Kind, path: BodyPath, name: str, value: object, *, is_raw: bool
) -> None:
    if kind.type != "identifier":
        _check_code(rules, kind, path, name, value)
    elif isinstance(value, str):
        _check_identifier(kind, name, value, is_raw=is_raw)


def _check_code(rules: BodyRules, kind: Kind, path: BodyPath, name: str, value: object) -> None:
    """Refuses a malformed currency or country, or one in small letters."""
    letters, shape, code = _CODES[kind.type]
    text = str(value)
    is_word = text.isascii() and text.isalpha() and len(text) == letters
    if is_word and text.isupper():
        return
    option = next((row.name for row in rules.options if row.path == path), "Write")
    right = text.upper()
    raise UsageError(
        f"A {kind.type} is written in capitals: {right}"
        if is_word
        else f"{name} {text[:_SHOWN]!r} is not {shape}.",
        code=code,
        param=name,
        hint=f"{option} {right}" if is_word else None,
    )


def _check_identifier(kind: Kind, name: str, value: str, *, is_raw: bool) -> None:
    """Refuses an id of another kind than the field's, such as an order's for a payment."""
    prefix = ID_PREFIXES[kind.of]
    if value.startswith(prefix):
        return
    other = next((one for one, start in ID_PREFIXES.items() if value.startswith(start)), None)
    if other is not None:
        leads = (kind.of, other) == ("payment", "order")
        raise UsageError(
            f"{name} {value!r} is the id of {'an' if other[0] in 'aeiou' else 'a'} "
            f"{other.replace('_', ' ')}.",
            code="id_of_another_kind",
            param=name,
            hint=f"svc payments list --order {value}" if leads else None,
        )
    if not is_raw:
        raise UsageError(
            f"{name} {value[:_SHOWN]!r} does not begin with {prefix}.",
            code="id_invalid",
            param=name,
        )


_SHOWN: Final = 40


def _find_missing(rules: BodyRules, body: Mapping[str, Any]) -> Iterator[RequestOption]:
    """Yields the required fields that are missing.

    If one of several alternatives was given, the others of that group are required.
    """
    for row, others in rules.needed:
        if not is_there(body, row.path):
            absent = [other for other in others if not is_there(body, other.path)]
            yield from absent if len(absent) < len(others) else (row,)


def is_there(body: Mapping[str, Any], path: BodyPath) -> bool:
    """Whether a body has a value at a path, or a value that is no object above it."""
    return value_at(body, path) not in (None, "")


def value_at(body: Mapping[str, Any], path: BodyPath) -> object:
    """The value at a path, or None; the service refuses a value that should be an object."""
    here: Any = body
    for part in path:
        if not isinstance(here, Mapping):
            return here
        here = here.get(part)
        if here is None:
            return None
    return here


def _values(body: Mapping[str, Any], path: BodyPath) -> list[tuple[str, Any]]:
    """Returns what stands at a path of a body, each with its name; the body has the first part."""
    found = [(path[0], body[path[0]])]
    for part in path[1:]:
        inside: list[tuple[str, Any]] = []
        for name, value in found:
            if part == "*" and isinstance(value, list):
                inside += [(f"{name}[{index}]", item) for index, item in enumerate(value)]
            elif isinstance(value, (dict, Mapping)) and part in value:
                inside.append((f"{name}[{part}]", value[part]))
        found = inside
    return found


# --- names ---------------------------------------------------------------------------------------


def _check_names(fields: FieldTree, body: Mapping[str, Any], typed: Sequence[str]) -> None:
    try:
        for unknown in find_unknown_names(fields, body):
            check_name(*unknown)
    except UsageError as error:
        error.hint = _as_typed(typed, str(error.param), str(error.hint)) or error.hint
        raise


class UnknownName(NamedTuple):
    """An unknown name within the field `within`, and the known `fields` there."""

    fields: FieldTree
    name: str
    within: str

    @property
    def path(self) -> str:
        """The bracket path of the name, such as `items[0][colour]`."""
        return _join_bracket(self.within, self.name)


def find_unknown_names(fields: FieldTree, value: Any, within: str = "") -> Iterator[UnknownName]:
    """Yields the names in a value that are not described; inside such a name it does not look.

    A position of a list may be a name of digits, as a bracket path has it.
    """
    if isinstance(value, list):
        for index, item in enumerate(value):
            yield from find_unknown_names(fields.get("*", {}), item, f"{within}[{index}]")
    elif isinstance(value, (dict, Mapping)):  # a dict is known at once, a Mapping is asked
        for name, inner in value.items():
            known = "*" if "*" in fields and name.isdecimal() else name
            if known not in fields:
                yield UnknownName(fields, name, within)
            elif not isinstance(inner, (str, int)):
                yield from find_unknown_names(fields[known], inner, _join_bracket(within, name))


def check_name(fields: FieldTree, name: str, within: str) -> None:
    """Refuses one name, which stands inside the field `within`, if it is nearly a described one."""
    if name in fields:
        return
    _refuse_point(fields, name, within)
    meant = next((known for known in fields if _is_near(name, known)), None)
    if meant is None:
        return
    written = _join_bracket(within, name)
    raise UsageError(
        f"Unknown field {written!r}. Did you mean {_join_bracket(within, meant)!r}?",
        code="field_misspelt",
        param=written,
        hint=f"{_WRITE}{_join_bracket(within, meant)}",
    )


def _refuse_point(fields: FieldTree, name: str, within: str) -> None:
    """Refuses `shipping.country`, which other tools write for `shipping[country]`."""
    first, *rest = name.split(".")
    first = _suggest_name(fields, first)
    if rest and fields.get(first):
        written, inner = _join_bracket(within, first), fields[first]
        for part in rest:
            known = part if "*" in inner else _suggest_name(inner, part)
            written, inner = f"{written}[{known}]", inner.get("*" if "*" in inner else known, {})
        wrong = _join_bracket(within, name)
        raise UsageError(
            f"Unknown field {wrong!r}. A field inside another is written in brackets.",
            code="field_misspelt",
            param=wrong,
            hint=f"{_WRITE}{written}",
        )


def _suggest_name(fields: FieldTree, name: str) -> str:
    """The known name that equals a name or is similar to it; else the name itself."""
    near = (known for known in fields if _is_near(name, known))
    return name if name in fields else next(near, name)


def format_bracket_path(path: BodyPath) -> str:
    """Formats a path as a bracket path, such as `items[0][name]`."""
    return path[0] + "".join(f"[{part}]" for part in path[1:])


def _join_bracket(name: str, part: str) -> str:
    return f"{name}[{part}]" if name else part


def _is_near(name: str, known: str) -> bool:
    """Whether two names differ only by case, blanks, one letter or two swapped letters."""
    left, right = ("".join(text.split()).casefold() for text in (name, known))
    if _SHORT.get(left) == right:
        return True
    return slips(left, right, 1) <= 1


_WRITE: Final = "Write "
# What people write for a field, and what no letter or two make of it.
_SHORT: Final = {
    "qty": "quantity",
    "price": "unit_amount",
    "unit_price": "unit_amount",
    "zip": "postal_code",
    "postcode": "postal_code",
}
