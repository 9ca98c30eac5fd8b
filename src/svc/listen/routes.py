"""Parses `--forward-to [GLOB=]URL`, `--run GLOB=COMMAND` and `--events`, and matches events.

`svc events listen` and `receive` parse their options to `Routes`; `ingest`, `dispatcher` and the
inspector's replay ask them for the targets of each event.
"""

import fnmatch
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from svc.errors import UsageError, build_wrong_choice
from svc.inputs import split_list
from svc.listen.commands import PREFIX, CommandTarget
from svc.listen.targets import Target
from svc.service.facts import EVENT_TYPES

_GLOB: Final = re.compile(r"([a-z_.*?\[\]!-]+)=(.+)", re.IGNORECASE | re.DOTALL)
_WILD: Final = frozenset("*?[")

AnyTarget = Target | CommandTarget


@dataclass(frozen=True, slots=True)
class Route:
    """One target and its glob; without a glob it gets the events that no glob matches."""

    glob: str | None
    target: AnyTarget


class Routes:
    """All routes of a listener.

    An event goes to every target whose glob matches its type; where none does, to every target
    that was given without a glob.
    """

    def __init__(self, routes: Sequence[Route]) -> None:
        self._routes = tuple(dict.fromkeys(routes))
        self._found: dict[str, tuple[AnyTarget, ...]] = {}

    @classmethod
    def parse(
        cls,
        texts: Sequence[str],
        *,
        allow_remote: bool = False,
        runs: Sequence[str] = (),
        command: Callable[[str], CommandTarget] = CommandTarget.parse,
    ) -> "Routes":
        """Reads the values of `--forward-to` and of `--run`; `command` reads a command line.

        Raises:
            UsageError: a malformed address or command, or a glob that no event type matches.
        """
        routes = [_route(text, allow_remote=allow_remote) for text in texts]
        return cls(routes + [_run(text, command) for text in runs])

    @classmethod
    def read_back(cls, texts: Sequence[str]) -> "Routes":
        """Parses the result of `format_routes`, as the table of listeners stores it."""
        runs = [text for text in texts if text.partition("=")[2].startswith(PREFIX)]
        urls = [text for text in texts if text not in runs]
        return cls.parse(urls, allow_remote=True, runs=runs)

    @property
    def has_commands(self) -> bool:
        """Whether a target is a command."""
        return any(isinstance(target, CommandTarget) for target in self.targets)

    @property
    def take_all(self) -> bool:
        """Whether every event has a target, even one of an unknown type."""
        return any(route.glob in (None, "*") for route in self._routes)

    @property
    def targets(self) -> tuple[AnyTarget, ...]:
        """All targets, each once, in the order in which they were given."""
        return tuple(dict.fromkeys(route.target for route in self._routes))

    def format_routes(self) -> list[str]:
        """Formats each route as text for `read_back`."""
        return [
            f"{route.glob}={route.target}" if route.glob else str(route.target)
            for route in self._routes
        ]

    def describe_routes(self) -> list[str]:
        """Describes each route in words, for people."""
        named = any(route.glob is not None for route in self._routes)
        rest = "all others" if named else "all"
        in_order = sorted(self._routes, key=lambda route: route.glob is None)
        return [f"{route.glob or rest} to {route.target}" for route in in_order]

    def match(self, event_type: str) -> tuple[AnyTarget, ...]:
        """Returns the targets of an event type; if there is none, the event is only stored."""
        found = self._found.get(event_type)
        if found is None:
            named = [
                route.target
                for route in self._routes
                if route.glob is not None and fnmatch.fnmatchcase(event_type, route.glob)
            ]
            unnamed = [route.target for route in self._routes if route.glob is None]
            found = tuple(dict.fromkeys(named or unnamed))
            if event_type in EVENT_TYPES:  # the others are the sender's choice and have no end
                self._found[event_type] = found
        return found


def select_events(texts: Sequence[str]) -> tuple[str, ...]:
    """Parses the values of `--events`: names and globs, commas allowed; without any, all types.

    Raises:
        UsageError: a name or glob that no event type matches.
    """
    globs = [part for text in texts for part in split_list(text)]
    for glob in globs:
        check_glob(glob, "--events")
    if not globs:
        return EVENT_TYPES
    return tuple(
        name for name in EVENT_TYPES if any(fnmatch.fnmatchcase(name, glob) for glob in globs)
    )


def check_glob(glob: str, option: str) -> None:
    """Refuses a glob that matches no event type; `option` is named in the error.

    Raises:
        UsageError: no event type matches; the nearest name is suggested.
    """
    if any(fnmatch.fnmatchcase(name, glob) for name in EVENT_TYPES):
        return
    raise build_wrong_choice(option, glob, EVENT_TYPES, _suggest_type(glob))


def _suggest_type(glob: str) -> str | None:
    """Returns the type that was probably meant, or for a partial type the pattern."""
    pool: Sequence[str] = EVENT_TYPES
    if _WILD & set(glob) or "." not in glob:
        parts = [name.split(".") for name in EVENT_TYPES]
        pool = [*(f"{noun}.*" for noun, _ in parts), *(f"*.{end}" for _, end in parts)]
    from difflib import get_close_matches

    near = get_close_matches(glob.lower(), pool, 1, 0.5)
    return near[0] if near else None


def _route(text: str, *, allow_remote: bool) -> Route:
    match = _GLOB.fullmatch(text)
    if match is None or "://" in match[1]:
        return Route(None, Target.parse(text, allow_remote=allow_remote))
    check_glob(match[1], "--forward-to")
    return Route(match[1], Target.parse(match[2], allow_remote=allow_remote))


def _run(text: str, command: Callable[[str], CommandTarget]) -> Route:
    glob, _, line = text.partition("=")
    if not _GLOB.fullmatch(text):
        raise UsageError(
            f"Cannot run {text!r}: it names no event type.",
            param="--run",
            hint="Write it as 'order.paid=./fulfil.sh', or '*=./fulfil.sh' for all types",
        )
    check_glob(glob, "--run")
    return Route(glob, command(line))


def parse_known(url: str, env: Mapping[str, str], *, allow_remote: bool) -> AnyTarget:
    """Parses the text of a target as the ledger stores it; raises UsageError."""
    if url.startswith(PREFIX):
        return CommandTarget.parse(url, env)
    return Target.parse(url, allow_remote=allow_remote)
