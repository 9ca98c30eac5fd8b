"""Finds the endpoint of a method and path, for the API, the controls and the pages.

A `RouteTable` is built once for each of the three: by `app`, `control.app` and `checkout.app`.
"""

import re
from collections.abc import Iterable
from typing import Generic, TypeVar

from svc.sandbox.parameters.problems import Problem, build_endpoint_unknown
from svc.sandbox.resources.operation import ID

E = TypeVar("E")


class RouteTable(Generic[E]):
    """Endpoints by path and method; every segment but `:id` is literal."""

    def __init__(self, endpoints: Iterable[tuple[str, str, E]]) -> None:
        self._methods: dict[str, dict[str, E]] = {}
        for method, path, endpoint in endpoints:
            self._methods.setdefault(path, {})[method] = endpoint
        patterned = [path for path in self._methods if ID in path]
        self._patterns = [(re.compile(p.replace(ID, "([^/]+)")), p) for p in patterned]

    def find(self, method: str, path: str) -> tuple[E, str]:
        """The endpoint, and the id in the path.

        Raises:
            Problem: 404 `endpoint_unknown` or 405 `method_not_allowed` with `Allow`.
        """
        methods, identity = self._at(path)
        if method not in methods:
            allowed = ", ".join(sorted(methods))
            message = f"{method} is not allowed here; use {allowed}."
            raise Problem(405, "method_not_allowed", message, headers={"Allow": allowed})
        return methods[method], identity

    def _at(self, path: str) -> tuple[dict[str, E], str]:
        if path in self._methods and ID not in path:
            return self._methods[path], ""
        for pattern, template in self._patterns:
            if match := pattern.fullmatch(path):
                return self._methods[template], match[1]
        raise build_endpoint_unknown(path)
