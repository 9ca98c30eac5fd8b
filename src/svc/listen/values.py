"""`value_class`: a decorator for the value classes that a listener makes in great numbers.

It makes a plain data class, which is faster than a frozen one; the type checker keeps it unchanged.
"""

from dataclasses import dataclass, field
from typing import TypeVar, dataclass_transform

T = TypeVar("T")


@dataclass_transform(frozen_default=True, field_specifiers=(field,))
def value_class(cls: type[T]) -> type[T]:
    """Makes a class a data class that no checked code changes.

    What `frozen` makes a class pay for each of its fields is most of what such an object costs: a
    quarter of it is left here, and mypy sees to the rest.
    """
    return dataclass(slots=True, unsafe_hash=True)(cls)
