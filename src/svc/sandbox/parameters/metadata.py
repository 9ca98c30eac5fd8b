"""Metadata: the caller's own keys and strings, checked and merged (assumptions: Conventions).

The tables of every noun with metadata use the kind; updates of orders call `merge`.
"""

from dataclasses import dataclass
from typing import Any, ClassVar, Final

from svc.sandbox.parameters import problems
from svc.sandbox.parameters.kinds import NO_NUL, STRING, check_string
from svc.sandbox.parameters.schema import BLANK, Schema
from svc.sandbox.parameters.tables import Codes, ParameterKind, SandboxSettings

_KEYS_MAX: Final = 50
_KEY_MAX: Final = 40
_VALUE_MAX: Final = 500


@dataclass(frozen=True, slots=True)
class Metadata(ParameterKind):
    """The caller's own keys and strings; an empty string stands for a key to delete."""

    refused_with: ClassVar[Codes] = STRING | {"parameter_too_long", "parameter_invalid_empty"}

    def check(self, value: Any, name: str, settings: SandboxSettings) -> dict[str, str]:  # noqa: ARG002
        if not isinstance(value, dict):
            raise problems.build_wrong_type(name, "an object")
        clean = {key: self._entry(key, text, f"{name}[{key}]") for key, text in value.items()}
        _refuse_many_keys(clean, name)
        return clean

    def _entry(self, key: str, value: Any, name: str) -> str:
        if not check_string(key, name):
            raise problems.build_empty(name)
        if len(key) > _KEY_MAX:
            raise problems.too_long(name, f"{_KEY_MAX} characters in its key")
        text = "" if value is None else check_string(value, name)
        if len(text) > _VALUE_MAX:
            raise problems.too_long(name, f"{_VALUE_MAX} characters")
        return text

    def schema(self, empty: Schema) -> Schema:
        in_form = empty == BLANK
        names = r"^[^\[\]\u0000]*$" if in_form else NO_NUL
        return {
            "description": "metadata may have at most 50 keys; an empty value deletes its key.",
            "type": "object",
            "propertyNames": {"minLength": 1, "maxLength": _KEY_MAX, "pattern": names},
            "additionalProperties": {
                "type": "string" if in_form else ["string", "null"],
                "maxLength": _VALUE_MAX,
                "pattern": NO_NUL,
            },
        }


def merge(present: dict[str, str], changes: dict[str, str] | None) -> dict[str, str]:
    """Merges key by key, an empty value deletes one, None all; raises Problem: over 50 are left."""
    if changes is None:
        return {}
    result = {key: text for key, text in {**present, **changes}.items() if text}
    _refuse_many_keys(result)
    return result


def _refuse_many_keys(metadata: dict[str, str], name: str = "metadata") -> None:
    """Raises Problem if more than 50 keys of `metadata` have a value."""
    if sum(1 for text in metadata.values() if text) > _KEYS_MAX:
        raise problems.too_long(name, f"{_KEYS_MAX} keys")
