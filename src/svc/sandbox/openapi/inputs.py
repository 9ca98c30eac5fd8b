"""Parameter tables as JSON Schema: what each kind of value takes."""

from functools import singledispatch
from typing import Final

from svc.sandbox.parameters import kinds
from svc.sandbox.parameters.schema import (
    BLANK,
    BOOLEAN,
    COUNTRY,
    CURRENCY,
    TIMESTAMP,
    Schema,
    either,
    integer,
    strict,
    words,
)
from svc.sandbox.parameters.tables import Fields, Kind, ListOf, Object, Parameter
from svc.spec import EVENT_TYPES

# Up to 12 digits with separators between them; at most 64 characters.
_HS_CODE: Final = "^[. -]*([0-9][. -]*){0,12}$"
_NO_NUL: Final = r"^[^\u0000]*$"
_URL: Final = "^[Hh][Tt][Tt][Pp][Ss]?://"


@singledispatch
def schema_of(kind: Kind, empty: Schema) -> Schema:  # noqa: ARG001  see the objects
    """What a kind of value takes, where it is not empty; `empty` is what is, inside of it.

    Raises:
        TypeError: a kind that has no schema yet.
    """
    raise TypeError(type(kind).__name__)


def table(fields: Fields, empty: Schema, *, partial: bool = False) -> Schema:
    """The object that a parameter table describes, with what counts as an empty value in it.

    `partial` is an update: nothing is required.
    """
    optional = [field.name for field in fields if partial or not field.required]
    return strict({field.name: _value_of(field, empty) for field in fields}, optional)


def _value_of(field: Parameter, empty: Schema) -> Schema:
    schema = schema_of(field.kind, empty)
    clearable = field.clearable and not field.required
    return either(schema, empty) if clearable else schema


@schema_of.register
def _text(kind: kinds.Text, empty: Schema) -> Schema:  # noqa: ARG001
    return {"type": "string", "minLength": 1, "maxLength": kind.most, "pattern": _NO_NUL}


@schema_of.register
def _shaped(kind: kinds.Shaped, empty: Schema) -> Schema:  # noqa: ARG001
    return {"type": "string", "description": kind.what, "pattern": f"^({kind.shape.pattern})$"}


@schema_of.register
def _choice(kind: kinds.Choice, empty: Schema) -> Schema:  # noqa: ARG001
    return words(kind.words)


@schema_of.register
def _integer(kind: kinds.Integer, empty: Schema) -> Schema:  # noqa: ARG001
    return integer(kind.low, kind.high)


@schema_of.register
def _amount(kind: kinds.Amount, empty: Schema) -> Schema:  # noqa: ARG001
    return integer(kind.low)


@schema_of.register
def _boolean(kind: kinds.Boolean, empty: Schema) -> Schema:  # noqa: ARG001
    return BOOLEAN


@schema_of.register
def _timestamp(kind: kinds.Timestamp, empty: Schema) -> Schema:  # noqa: ARG001
    return TIMESTAMP


@schema_of.register
def _currency(kind: kinds.Currency, empty: Schema) -> Schema:  # noqa: ARG001
    return CURRENCY


@schema_of.register
def _country(kind: kinds.Country, empty: Schema) -> Schema:  # noqa: ARG001
    return either(COUNTRY, words(kind.also)) if kind.also else COUNTRY


@schema_of.register
def _hs_code(kind: kinds.HsCode, empty: Schema) -> Schema:  # noqa: ARG001
    return {"type": "string", "minLength": 1, "maxLength": 64, "pattern": _HS_CODE}


@schema_of.register
def _event_type(kind: kinds.EventType, empty: Schema) -> Schema:  # noqa: ARG001
    return words(EVENT_TYPES)


@schema_of.register
def _url(kind: kinds.Url, empty: Schema) -> Schema:  # noqa: ARG001
    return {"type": "string", "format": "uri", "maxLength": 2000, "pattern": _URL}


@schema_of.register
def _metadata(kind: kinds.Metadata, empty: Schema) -> Schema:  # noqa: ARG001
    in_form = empty == BLANK
    names = r"^[^\[\]\u0000]*$" if in_form else _NO_NUL
    return {
        "description": "At most 50 keys with a value; an empty value deletes its key.",
        "type": "object",
        "propertyNames": {"minLength": 1, "maxLength": 40, "pattern": names},
        "additionalProperties": {
            "type": "string" if in_form else ["string", "null"],
            "maxLength": 500,
            "pattern": _NO_NUL,
        },
    }


@schema_of.register
def _object(kind: Object, empty: Schema) -> Schema:
    return table(kind.fields, empty, partial=kind.partial)


@schema_of.register
def _list(kind: ListOf, empty: Schema) -> Schema:
    return {
        "type": "array",
        "items": schema_of(kind.kind, empty),
        "minItems": 1,
        "maxItems": kind.most,
    }
