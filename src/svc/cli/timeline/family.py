"""Reads objects that belong together (an order, its payments, refunds, disputes) for a timeline.

`svc timeline` makes one `Family` of the id that was typed; its requests are GETs.
"""

import re
from collections import deque
from collections.abc import Iterator
from typing import Any, Final

from svc import service
from svc.client.client import Client
from svc.client.operations import build_list, retrieval
from svc.client.pages import pages
from svc.errors import NotFound
from svc.service.facts import ID_PREFIXES
from svc.service.model import Resource

_MOST: Final = 200  # objects of one family that are read
_PREFIXES: Final = "|".join(map(re.escape, ID_PREFIXES.values()))
_ID: Final = re.compile(rf"\b(?:{_PREFIXES})[0-9A-Za-z]+")


def ids_in(text: str) -> list[str]:
    """Finds the ids of the service in a text, such as a path or a body, in their order."""
    return list(dict.fromkeys(_ID.findall(text)))


def resource_of(identifier: str) -> Resource | None:
    """The resource whose objects can be retrieved by an id of this prefix; None where none can."""
    for kind, prefix in ID_PREFIXES.items():
        noun = service.noun(kind) if identifier.startswith(prefix) else None
        if noun is not None and noun.action("retrieve") is not None:
            return noun
    return None


class Family:
    """Reads one object and those that are linked with it from the service.

    Attributes:
        objects: by id, in the order in which they were found.
        absent: ids that the service does not know.
        is_cut: whether there are more objects than the 200 that are read.
    """

    def __init__(self, client: Client) -> None:
        self._client = client
        self.objects: dict[str, dict[str, Any]] = {}
        self.absent: list[str] = []
        self.is_cut = False

    def read(self, identifiers: list[str]) -> None:
        """Reads these objects and those that are linked with them, each once.

        Raises:
            SvcError: the service does not answer; the objects read before stay in `objects`.
        """
        waiting = deque(identifiers)
        while waiting:
            identifier = waiting.popleft()
            if identifier in self.objects or identifier in self.absent:
                continue
            if len(self.objects) >= _MOST:
                self.is_cut = True
                return
            waiting.extend(self._list_linked(identifier))

    def _list_linked(self, identifier: str) -> Iterator[str]:
        """Reads one object; yields the ids that it names, and those of objects that name it."""
        noun = resource_of(identifier)
        if noun is None:
            return
        try:
            data = self._client.send(retrieval(noun.name, identifier)).data
        except NotFound:
            self.absent.append(identifier)
            return
        self.objects[identifier] = data
        yield from _list_named_ids(noun, data)
        for other in service.nouns():
            for field in other.list_given("list"):
                if field.kind.type == "identifier" and field.kind.of == noun.name:
                    call = build_list(other.name, ((field.name, identifier),))
                    for page in pages(self._client, call, max_items=_MOST):
                        yield from (item.data["id"] for item in page.items)


def _list_named_ids(noun: Resource, data: dict[str, Any]) -> Iterator[str]:
    if noun.name == "event":
        yield str(data["data"]["object"]["id"])
    for field in noun.fields:
        if field.kind.type == "identifier" and field.name != "id" and data.get(field.name):
            yield str(data[field.name])
