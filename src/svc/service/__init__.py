"""The API described once, as data: what every other room reads, and none copies.

A file is a noun, in the specification's words: begin with `refunds`, the shortest. `model` has the
words that they are written in, `goods` what orders and quotes share, and `facts` limits, schedules,
headers, prefixes and the types of events. A noun is loaded only when it is used.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Final

from svc.service.facts import API_ROOT

if TYPE_CHECKING:  # facts alone are read without it
    from svc.service.model import Action, Resource

# In the order of the specification. The file of a noun is named after its path, and its objects
# are named after its file.
NOUNS: Final = (
    "orders",
    "payments",
    "payment_methods",
    "refunds",
    "payouts",
    "landed_cost_quotes",
    "webhook_endpoints",
    "events",
    "disputes",
)


def noun(name: str) -> "Resource | None":
    """The resource of an object's name, such as `order`; None where there is none."""
    return _load(f"{name}s") if f"{name}s" in NOUNS else None


def nouns() -> "tuple[Resource, ...]":
    """Every resource; loads them all."""
    return tuple(map(_load, NOUNS))


def operation(name: str) -> "tuple[Resource, Action] | None":
    """The resource and the action of a name such as `refunds.create`; None where there is none."""
    word, _, verb = name.partition(".")
    module = word.replace("-", "_")
    resource = _load(module) if module in NOUNS else None
    action = resource.action(verb) if resource is not None else None
    return None if resource is None or action is None else (resource, action)


def resource_at(path: str) -> "Resource | None":
    """The resource whose collection a path is, or is in; None where there is none."""
    plain = path.removeprefix(f"{API_ROOT}/").replace("-", "_").replace("/", "_") + "_"
    for name in NOUNS:
        if plain.startswith(f"{name}_"):
            resource = _load(name)
            return resource if f"{path}/".startswith(f"{resource.path}/") else None
    return None


def _load(name: str) -> "Resource":
    resource: Resource = import_module(f"svc.service.{name}").RESOURCE
    return resource
