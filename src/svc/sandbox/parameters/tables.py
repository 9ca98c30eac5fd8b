"""Parameter tables: a tuple of fields per operation, and how a request is read against it.

Three steps (assumptions: Order of checks): `coerce` turns text of forms and queries into values,
`refuse_unknown` reports the first name that is in no table, `check` reports the first violation in
table order.

`api.requests` and the controls check each request by the table of its operation.
"""

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Final

from svc.sandbox.parameters import problems
from svc.sandbox.parameters.bodies import DecodedInput, DecodedTree
from svc.sandbox.parameters.schema import Schema, build_strict, either

Codes = frozenset[str]
SandboxSettings = Mapping[str, Any]
Params = dict[str, Any]

NO_CODES: Final[Codes] = frozenset()
WRONG_TYPE: Final[Codes] = frozenset({"parameter_invalid_type"})

_EMPTY: Final[Codes] = frozenset({"parameter_invalid_empty"})
_MISSING: Final[Codes] = frozenset({"parameter_missing"})
_LONG: Final[Codes] = frozenset({"parameter_too_long"})
_NESTED: Final = (dict, list)  # kept: `dict | list` would be made anew for each value
_INDEX: Final = re.compile(r"0|[1-9][0-9]{0,8}")


class ParameterKind(ABC):
    """What a field may hold; `refused_with` are the codes of a kind that is not made of others."""

    refused_with: ClassVar[Codes] = NO_CODES

    def coerce(self, value: Any) -> Any:
        """The value that form or query text stands for; text that stands for none stays."""
        return value

    def find_unknown(self, value: Any, name: str) -> Iterable[str]:  # noqa: ARG002  see Object
        """Names inside the value that are in no table."""
        return ()

    @abstractmethod
    def check(self, value: Any, name: str, settings: SandboxSettings) -> Any:
        """The value as the operation uses it; raises Problem naming `name` if it breaks a rule."""

    def codes(self) -> Codes:
        """The error codes that `check` can answer with."""
        return self.refused_with

    @abstractmethod
    def schema(self, empty: Schema) -> Schema:
        """Returns the JSON Schema of the values that `check` accepts, but for empty ones.

        `empty` is the schema of an empty value, for the fields inside it.
        """


@dataclass(frozen=True, slots=True)
class Parameter:
    """One row of a parameter table.

    An empty value (`""`, `null`, `[]`) of an optional field equals an absent one, and unsets the
    field on update; with `clearable` false it is refused, as it is for required fields.
    """

    name: str
    kind: ParameterKind
    required: bool = False
    clearable: bool = True

    def codes(self) -> Codes:
        """The error codes that a request can be answered with for this field."""
        codes = self.kind.codes()
        if self.required:
            return codes | _MISSING | _EMPTY
        return codes if self.clearable else codes | _EMPTY

    def schema(self, empty: Schema) -> Schema:
        """What the field takes, as JSON Schema; `empty` is what counts as an empty value."""
        schema = self.kind.schema(empty)
        return either(schema, empty) if self.clearable and not self.required else schema


Fields = tuple[Parameter, ...]


def coerce(fields: Fields, given: DecodedInput) -> DecodedTree:
    """The parameters after coercion; JSON keeps its own types."""
    return _coerce(fields, given.tree) if given.textual else given.tree


def refuse_unknown(fields: Fields, tree: DecodedTree) -> None:
    """Raises Problem for the alphabetically first name that is in no table."""
    first = min(_find_unknown(fields, tree, ""), default=None)
    if first is not None:
        raise problems.build_unknown(first)


def check(
    fields: Fields, tree: DecodedTree, settings: SandboxSettings, *, partial: bool = False
) -> Params:
    """The checked parameters; raises Problem for the first violation in table order.

    With `partial` (an update) nothing is required, and a field that is to be unset is None.
    Otherwise a key is there only if it has a value.
    """
    return _check(fields, tree, "", settings, partial=partial)


def codes_of(fields: Fields) -> Codes:
    """The error codes that a table can answer with."""
    return NO_CODES.union(*(field.codes() for field in fields))


def schema_of(fields: Fields, empty: Schema, *, partial: bool) -> Schema:
    """The object that a table describes, with what counts as empty; `partial` requires nothing."""
    optional = [field.name for field in fields if partial or not field.required]
    return build_strict({field.name: field.schema(empty) for field in fields}, optional)


@dataclass(frozen=True, slots=True)
class Object(ParameterKind):
    """An object with a table of its own; `rule` looks at all fields together afterwards."""

    fields: Fields
    rule: Callable[[Params, str], None] | None = None
    partial: bool = False

    def coerce(self, value: Any) -> Any:
        return _coerce(self.fields, value) if isinstance(value, dict) else value

    def find_unknown(self, value: Any, name: str) -> Iterable[str]:
        return _find_unknown(self.fields, value, name) if isinstance(value, dict) else ()

    def check(self, value: Any, name: str, settings: SandboxSettings) -> Params:
        if not isinstance(value, dict):
            raise problems.build_wrong_type(name, "an object")
        clean = _check(self.fields, value, name, settings, partial=self.partial)
        if self.rule is not None:
            self.rule(clean, name)
        return clean

    def codes(self) -> Codes:
        return WRONG_TYPE | codes_of(self.fields)

    def schema(self, empty: Schema) -> Schema:
        return schema_of(self.fields, empty, partial=self.partial)


@dataclass(frozen=True, slots=True)
class ListOf(ParameterKind):
    """A list with at most `most` entries of one kind; entries are named by their position."""

    kind: ParameterKind
    most: int

    def coerce(self, value: Any) -> Any:
        if isinstance(value, dict) and all(_INDEX.fullmatch(index) for index in value):
            value = [value[index] for index in sorted(value, key=int)]
        return [self.kind.coerce(entry) for entry in value] if isinstance(value, list) else value

    def find_unknown(self, value: Any, name: str) -> Iterator[str]:
        if isinstance(value, list):
            for index, entry in enumerate(value):
                yield from self.kind.find_unknown(entry, f"{name}[{index}]")

    def check(self, value: Any, name: str, settings: SandboxSettings) -> list[Any]:
        if not isinstance(value, list):
            raise problems.build_wrong_type(name, "a list")
        if len(value) > self.most:
            raise problems.too_long(name, f"{self.most} entries")
        return [self._entry(entry, f"{name}[{i}]", settings) for i, entry in enumerate(value)]

    def codes(self) -> Codes:
        return WRONG_TYPE | _LONG | _EMPTY | self.kind.codes()

    def schema(self, empty: Schema) -> Schema:
        items = self.kind.schema(empty)
        return {"type": "array", "items": items, "minItems": 1, "maxItems": self.most}

    def _entry(self, entry: Any, name: str, settings: SandboxSettings) -> Any:
        if is_empty(entry):
            raise problems.build_empty(name)
        return self.kind.check(entry, name, settings)


def is_empty(value: Any) -> bool:
    """Returns whether a value is empty: it unsets a field that is optional."""
    return not value and (value is None or value in ("", []))


def _coerce(fields: Fields, tree: DecodedTree) -> DecodedTree:
    kinds = {field.name: field.kind for field in fields}
    return {k: kinds[k].coerce(v) if k in kinds else v for k, v in tree.items()}


def _find_unknown(fields: Fields, tree: DecodedTree, prefix: str) -> Iterator[str]:
    strange = len(tree)
    for field in fields:
        if field.name in tree:
            strange -= 1
            if isinstance(value := tree[field.name], _NESTED):
                yield from field.kind.find_unknown(value, _name(prefix, field.name))
    if strange:
        yield from (_name(prefix, key) for key in tree.keys() - {field.name for field in fields})


def _check(
    fields: Fields, tree: DecodedTree, prefix: str, settings: SandboxSettings, *, partial: bool
) -> Params:
    clean: Params = {}
    for field in fields:
        if field.name not in tree:
            if field.required and not partial:
                raise problems.build_missing(_name(prefix, field.name))
            continue
        name = _name(prefix, field.name)
        if not is_empty(value := tree[field.name]):
            clean[field.name] = field.kind.check(value, name, settings)
        elif field.required or not field.clearable:
            raise problems.build_empty(name)
        elif partial:
            clean[field.name] = None
    return clean


def _name(prefix: str, key: str) -> str:
    return f"{prefix}[{key}]" if prefix else key
