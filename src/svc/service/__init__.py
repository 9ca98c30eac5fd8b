"""The API described once, as data: what every other room reads, and none copies.

A file is a noun (order, refund, ...), by the specification's name: begin with `refunds`, the
shortest. `model` has the types that a noun is written in, `goods` the fields that orders and quotes
share, `errors` every error code, and `facts` limits, schedules, headers, the index of nouns and the
types of events. The functions here load a noun when it is first used. Where to look, or to change:

- an option, its help: `Field.option`, `Field.help` of the noun's file; an example in help:
  `Action.example`
- the label of a column, its place: `Field.label`, `Field.column`
- an enum's words: the choice in `Field.kind`; a noun's statuses: `Resource.statuses`
- a filter of a list: "list" in `Field.given`
- what moves money: `Action.money`; what proves an answer: `Field.proof`
- a status that ends --wait: `Resource.final`; one that means failure: `Resource.failures`
- a field of an event: `events`; of the object in it: that object's file
- an error code's meaning and status: `errors`; its exit code, by status: `svc.errors`

Promises, such as "promise R1", stand by their numbers in tests/PROMISES.md.
"""

from functools import lru_cache
from importlib import import_module
from typing import TYPE_CHECKING

from svc.service.facts import API_ROOT, NOUNS

if TYPE_CHECKING:  # facts alone are read without it
    from svc.service.model import Action, Resource


def noun(name: str) -> "Resource | None":
    """The resource of an object's name, such as `order`, or None."""
    return _load(name) if name in NOUNS else None


def nouns() -> "tuple[Resource, ...]":
    """Every resource; loads them all."""
    return tuple(map(_load, NOUNS))


@lru_cache(maxsize=64)  # a batch asks for each of its rows
def operation(name: str) -> "tuple[Resource, Action] | None":
    """The resource and the action of a name such as `refunds.create`, or None."""
    word, _, verb = name.partition(".")
    resource = noun(word.replace("-", "_").removesuffix("s"))
    action = resource.action(verb) if resource is not None else None
    return None if resource is None or action is None else (resource, action)


def resource_at(path: str) -> "Resource | None":
    """The resource of a path such as `/v1/refunds` or `/v1/refunds/ID`, or None."""
    plain = path.removeprefix(f"{API_ROOT}/").replace("-", "_").replace("/", "_") + "_"
    for name in NOUNS:
        if plain.startswith(f"{name}s_"):
            resource = _load(name)
            return resource if f"{path}/".startswith(f"{resource.path}/") else None
    return None


def _load(name: str) -> "Resource":
    resource: Resource = import_module(f"svc.service.{name}s").RESOURCE
    return resource
