"""The building blocks of JSON Schema for requests and answers.

The kinds of values (`kinds`), `tables` and `described` build their schemas with them,
and `openapi` puts the schemas into its document.
"""

from collections.abc import Iterable, Mapping
from typing import Any, Final

from svc.sandbox.reference import fx
from svc.service.facts import AMOUNT_MAX, COUNTRIES

Schema = dict[str, Any]

TEXT: Final[Schema] = {"type": "string"}
BOOLEAN: Final[Schema] = {"type": "boolean"}
METADATA: Final[Schema] = {"type": "object", "additionalProperties": {"type": "string"}}
RATE: Final[Schema] = {"type": "number", "exclusiveMinimum": 0}
TIMESTAMP: Final[Schema] = {
    "type": "string",
    "format": "date-time",
    "pattern": "^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z$",
}


def ref(name: str) -> Schema:
    """A reference to a schema of the document."""
    return {"$ref": f"#/components/schemas/{name}"}


CURRENCY: Final = ref("Currency")
COUNTRY: Final = ref("Country")
EMPTY: Final = ref("Empty")
BLANK: Final = ref("Blank")

SHARED: Final[Mapping[str, Schema]] = {
    "Currency": {
        "description": "ISO 4217, upper case; these have an exchange rate in the sandbox.",
        "type": "string",
        "enum": sorted(fx.USD_PER_UNIT),
    },
    "Country": {
        "description": "ISO 3166-1 alpha-2, upper case.",
        "type": "string",
        "enum": sorted(COUNTRIES),
    },
    "Empty": {
        "description": "Equals an absent field; on update it unsets the field.",
        "anyOf": [  # a type each: generators know no enum of several
            {"type": "null"},
            {"type": "string", "enum": [""]},
            {"type": "array", "items": {"type": "string"}, "maxItems": 0},
        ],
    },
    "Blank": {"description": "The same in a form.", "type": "string", "enum": [""]},
}


def words(allowed: Iterable[str]) -> Schema:
    """One of a few words."""
    return {"type": "string", "enum": list(allowed)}


def either(*schemas: Schema) -> Schema:
    """Any of these."""
    return {"anyOf": list(schemas)}


def nullable(schema: Schema) -> Schema:
    """The values of a schema, or null."""
    return either(schema, {"type": "null"})


def identifier(prefix: str) -> Schema:
    """An id: its prefix and 24 letters or digits (assumptions: Conventions)."""
    return {"type": "string", "pattern": f"^{prefix}[0-9A-Za-z]{{24}}$"}


def integer(low: int, high: int = AMOUNT_MAX) -> Schema:
    """A whole number from `low` to `high`."""
    return {"type": "integer", "minimum": low, "maximum": high}


def build_strict(properties: Mapping[str, Schema], optional: Iterable[str] = ()) -> Schema:
    """An object with these fields and no others; all are required but the optional ones."""
    left_out = set(optional)
    shape: Schema = {
        "type": "object",
        "properties": dict(properties),
        "additionalProperties": False,
    }
    required = [name for name in properties if name not in left_out]
    return {**shape, "required": required} if required else shape
