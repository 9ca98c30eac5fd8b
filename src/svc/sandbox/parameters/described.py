"""Builds the sandbox's parameter tables, answers and answer schemas for a noun of `svc.service`.

A `Resource` and a verb in; a table, a schema or the fields of an object out. `resources.operation`
builds the table of each verb by `parameters`, the nouns of `resources` build the fields of new and
changed objects by `build_stored` and `changes`, and `openapi.document` the schemas by `answer`. The
client reads the same descriptions; the sandbox's own rules stand in `resources` and `kinds`.
"""

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

from svc.sandbox.parameters import kinds, schema
from svc.sandbox.parameters.problems import build_invalid, build_missing
from svc.sandbox.parameters.schema import Schema
from svc.sandbox.parameters.tables import Fields, ListOf, Object, Parameter, ParameterKind, Params
from svc.service.facts import EVENT_TYPES, ID_PREFIXES
from svc.service.model import Field, Kind, Resource

ObjectRule = Callable[[Params, str], None]

_KINDS: Final[Mapping[str, Callable[[Kind], ParameterKind]]] = {
    "identifier": lambda _: kinds.Text(),
    "choice": lambda kind: kinds.Choice(kind.words),
    "amount": lambda kind: kinds.Amount(kind.minimum),
    "integer": lambda kind: kinds.Integer(kind.minimum, kind.maximum),
    "boolean": lambda _: kinds.Boolean(),
    "timestamp": lambda _: kinds.Timestamp(),
    "currency": lambda _: kinds.Currency(),
    "country": lambda kind: kinds.Country(kind.words),
    "tariff_code": lambda _: kinds.HsCode(),
    "event_type": lambda _: kinds.EventType(),
    "url": lambda kind: kinds.Url(kind.maximum),
    "free": lambda _: kinds.Metadata(),
}


def parameters(noun: Resource, verb: str, rules: Mapping[str, ObjectRule] | None = None) -> Fields:
    """The parameter table of a verb; `rules` check an object as a whole, by its field's name."""
    return _table(noun.list_given(verb), rules or {}, is_filter=verb == "list")


def example(noun: Resource, verb: str) -> dict[str, Any] | None:
    """A body that is carried out as it stands; None where it would have to name an object."""
    given = noun.list_given(verb)
    if any(field.kind.type == "identifier" for field in given if field.required):
        return None
    return _examples(given, ()) or None


def _examples(fields: Iterable[Field], one_of: tuple[tuple[str, ...], ...]) -> dict[str, Any]:
    others = {name for names in one_of[1:] for name in names}
    found: dict[str, Any] = {}
    for field in fields:
        if field.kind.type == "object" and field.required:
            found[field.name] = _examples(field.kind.fields, field.kind.one_of)
        elif field.example is not None and field.name not in others:
            found[field.name] = field.example
    return found


def _table(
    fields: Iterable[Field], rules: Mapping[str, ObjectRule], *, is_filter: bool = False
) -> Fields:
    return tuple(
        Parameter(
            field.name,
            _kind(field.kind, rules.get(field.name)),
            required=field.required and not is_filter,
            clearable=field.clearable and not is_filter,
        )
        for field in fields
        if not field.made
    )


def _kind(kind: Kind, rule: ObjectRule | None) -> ParameterKind:
    if kind.entry is not None:
        return ListOf(_kind(kind.entry, None), kind.maximum)
    if kind.type == "object":
        inner = _table(kind.fields, {})
        return Object(inner, _with_one_of(kind, rule), partial=kind.merged)
    if kind.pattern:
        return kinds.Shaped(re.compile(kind.pattern), kind.shape)
    if kind.type == "text":
        return kinds.Text(kind.maximum)
    return _KINDS[kind.type](kind)


def _with_one_of(kind: Kind, rule: ObjectRule | None) -> ObjectRule | None:
    """A rule that asks for exactly one group of the fields, and then for all of that group."""
    if not kind.one_of:
        return rule

    def check(given: Params, name: str) -> None:
        begun = [names for names in kind.one_of if names[0] in given]
        if len(begun) != 1:
            groups = ", or ".join(" with ".join(names) for names in kind.one_of)
            raise build_invalid("parameters_exclusive", name, f"{name} needs either {groups}.")
        for other in begun[0]:
            if other not in given:
                raise build_missing(f"{name}[{other}]")
        if rule is not None:
            rule(given, name)

    return check


# --- what answers show ---------------------------------------------------------------------------


def schema_name(kind: str) -> str:
    """What the OpenAPI document calls the objects of a name: `LandedCostQuote`."""
    return "".join(word.capitalize() for word in kind.split("_"))


def answer(noun: Resource, *, made: bool = False) -> Schema:
    """The JSON Schema of an object of the service; `made` includes fields shown only once."""
    there = ("always", "given", "create") if made else ("always", "given")
    shown = [field for field in noun.fields if field.answered in there]
    fields = {field.name: _build_answer_schema(field) for field in shown}
    optional = [field.name for field in shown if field.answered == "given"]
    return schema.build_strict({"object": {"const": noun.name}, **fields}, optional)


def _build_answer_schema(field: Field) -> Schema:
    made = _schema(field.kind, is_given=bool(field.given or field.option))
    return schema.nullable(made) if field.nullable else made


def _schema(kind: Kind, *, is_given: bool = False) -> Schema:
    if kind.type == "amount" and not is_given:  # a sum may be larger than what can be given
        return {"type": "integer", "minimum": kind.minimum}
    if kind.pattern:
        return {"type": "string", "pattern": f"^{kind.pattern}$"}
    return _SCHEMAS[kind.type](kind)


def _country(kind: Kind) -> Schema:
    return schema.either(schema.COUNTRY, schema.words(kind.words)) if kind.words else schema.COUNTRY


def _object(kind: Kind) -> Schema:
    if kind.of:
        return schema.ref(schema_name(kind.of))
    shown = [field for field in kind.fields if field.answered in ("always", "given")]
    optional = [field.name for field in shown if field.answered == "given"]
    return schema.build_strict(
        {field.name: _build_answer_schema(field) for field in shown}, optional
    )


def _list(kind: Kind) -> Schema:
    made: Schema = {"type": "array", "items": _schema(kind.entry or kind)}
    if kind.minimum:
        made["minItems"] = kind.minimum
    if kind.unique:
        return {**made, "uniqueItems": True}
    return {**made, "maxItems": kind.maximum} if kind.maximum else made


_SCHEMAS: Final[Mapping[str, Callable[[Kind], Schema]]] = {
    "identifier": lambda kind: schema.identifier(ID_PREFIXES[kind.of]),
    "choice": lambda kind: schema.words((*kind.words, *kind.answered)),
    "event_type": lambda _: schema.words(EVENT_TYPES),
    "amount": lambda kind: schema.integer(kind.minimum, kind.maximum),
    "integer": lambda kind: schema.integer(kind.minimum, kind.maximum),
    "text": lambda _: schema.TEXT,
    "url": lambda _: schema.TEXT,
    "tariff_code": lambda _: schema.TEXT,
    "boolean": lambda _: schema.BOOLEAN,
    "timestamp": lambda _: schema.TIMESTAMP,
    "currency": lambda _: schema.CURRENCY,
    "country": _country,
    "rate": lambda _: schema.RATE,
    "free": lambda _: schema.METADATA,
    "object": _object,
    "list": _list,
}


# --- what is stored ------------------------------------------------------------------------------


def build_stored(noun: Resource, given: Params, **decided: Any) -> dict[str, Any]:
    """The fields of a new object: the decided values, the given ones, else the defaults."""
    if noun.name not in _STORED:
        always = [field for field in noun.fields if field.answered == "always"]
        _STORED[noun.name] = [
            (field, _initial(field)) for field in always if field.name not in _OWN
        ]
    stored = {}
    for field, make in _STORED[noun.name]:
        name = field.name
        if name in decided:
            stored[name] = decided[name]
        else:
            value = given.get(name)
            stored[name] = make() if value is None else _reshape(field.kind, value)
    return stored | {name: value for name, value in decided.items() if name.startswith("_")}


# What `build_stored` puts into an object of a noun: to look for it would take as long as the rest.
_STORED: Final[dict[str, list[tuple[Field, Callable[[], Any]]]]] = {}
_OWN: Final = ("id", "created", "livemode")  # every object has them from the store


def read_kept(noun: Resource, name: str, given: Params) -> Any:
    """The value that a new object keeps of one field of the request, else its default."""
    return _read_kept(next(field for field in noun.fields if field.name == name), given)


def changes(noun: Resource, given: Params) -> dict[str, Any]:
    """The fields that an update changes, without merged ones; an unset field gets its default."""
    return {
        field.name: _read_kept(field, given)
        for field in noun.list_given("update")
        if field.name in given and field.kind.type != "free"
    }


def _read_kept(field: Field, given: Params) -> Any:
    value = given.get(field.name)
    return _initial(field)() if value is None else _reshape(field.kind, value)


def _initial(field: Field) -> Callable[[], Any]:
    if field.default is not None or field.nullable:
        return lambda: field.default
    return _EMPTY.get(field.kind.type, lambda: None)


_EMPTY: Final[Mapping[str, Callable[[], Any]]] = {
    "amount": int,
    "list": list,
    "object": dict,
    "free": dict,
}


def _reshape(kind: Kind, value: Any) -> Any:
    """A value as answers show it; parts that were not given are null, or left out."""
    if kind.type == "list" and kind.entry is not None:
        return [_reshape(kind.entry, one) for one in value]
    if kind.type == "free":
        return kinds.merge_metadata({}, value)
    if kind.type != "object":
        return value
    return {
        field.name: value.get(field.name)
        for field in kind.fields
        if field.answered == "always" or (field.answered == "given" and field.name in value)
    }
