"""What a person reads when listening begins and when it has ended."""

from collections.abc import Sequence

from svc.api_keys import fingerprint
from svc.cli.events.endpoint import Endpoint
from svc.cli.events.options import ListenOptions
from svc.listen.records import Ready, Summary
from svc.render.layout import LineLayout
from svc.render.text import cells, wrap_message

_STOP = "(Ctrl-C to stop)"


def welcome(
    ready: Ready, asked: ListenOptions, endpoint: Endpoint, layout: LineLayout, waiting: int = 0
) -> str:
    """Says what comes from where and goes where, and where the signing secret is.

    `waiting` counts the events that an earlier run could not forward.
    """
    lines = [
        *_first(ready, layout),
        *_routes(ready, asked),
        *_way_in(ready, endpoint),
        _secret(endpoint, asked),
        *_left(waiting, asked),
    ]
    return _fitted(lines, layout)


def farewell(summary: Summary, layout: LineLayout) -> str:
    """Says what came and what became of it, and what can be done about the rest."""
    counts = {
        "forwarded": summary.forwarded,
        "failed": summary.failed,
        "still to forward": summary.pending,
        "duplicates": summary.duplicates,
        "rejected": summary.rejected,
        "of the other mode": summary.withheld,
    }
    parts = [f"received {summary.received}"]
    parts += [f"{name} {count}" for name, count in counts.items() if count]
    lines = [f"Stopped: {', '.join(parts)}."]
    if summary.pending:
        lines.append("What is left is kept: the same command forwards it when it runs again.")
    if summary.failed:
        lines.append("Send the failed ones again: svc events replay --failed")
    return _fitted(lines, layout)


def _first(ready: Ready, layout: LineLayout) -> list[str]:
    kinds = f"{len(ready.events)} event type{'s' if len(ready.events) > 1 else ''}"
    verb = "Forwarding" if ready.targets else "Receiving"
    what = f"Ready. {verb} {kinds} of {ready.mode} mode"
    if len(ready.targets) != 1:
        return [f"{what}  {_STOP}"]
    whole = f"{what} to {ready.targets[0]}  {_STOP}"
    if layout.width is None or cells(whole) <= layout.width:
        return [whole]
    return [f"{what}  {_STOP}", f"  to {ready.targets[0]}"]


def _routes(ready: Ready, asked: ListenOptions) -> list[str]:
    if len(ready.targets) < 2:  # noqa: PLR2004  one target stands in the first line
        return []
    return [f"  {text}" for text in asked.routes.described()]


def _left(waiting: int, asked: ListenOptions) -> list[str]:
    if not waiting:
        return []
    events = f"{waiting} event{'s' if waiting > 1 else ''} of an earlier run"
    if asked.resume:
        return [f"Forwarding {events} first."]
    return [f"Left alone: {events}: svc events inbox --pending"]


def _way_in(ready: Ready, endpoint: Endpoint) -> list[str]:
    """An address that the user has to enter somewhere, or that a tunnel has to lead to."""
    return [f"Waiting for deliveries at {ready.url}"] if endpoint.id is None else []


def _secret(endpoint: Endpoint, asked: ListenOptions) -> str:
    shown = " and ".join(fingerprint(secret) for secret in endpoint.secrets)
    what = "Signing secret" if len(endpoint.secrets) == 1 else "Signing secrets"
    if endpoint.id is None:
        return f"{what} {shown}, {endpoint.where}"
    return f"{what} {shown} {endpoint.where}: {asked.again} --print-secret"


def _fitted(lines: Sequence[str], layout: LineLayout) -> str:
    wrapped = (wrap_message(line, layout.width, layout.called) for line in lines)
    return "".join(f"{part}\n" for parts in wrapped for part in parts)
