"""Chooses the sender for a target: HTTP for a URL, a process for a command.

`listener`, replays and the inspector call `sender_for` with each target.
"""

from collections.abc import Sequence

from svc.listen.commands import CommandTarget
from svc.listen.forward.request import ForwardSender, HeaderText, TargetSender
from svc.listen.forward.signing import HeaderSigner
from svc.listen.http.dial import Connect, open_connection
from svc.listen.routes import AnyTarget
from svc.listen.running.lane import CommandSender
from svc.listen.targets import AS_USUAL, TargetTrust


def sender_for(
    target: AnyTarget,
    extra: Sequence[HeaderText] = (),
    connect: Connect = open_connection,
    sign: HeaderSigner | None = None,
    trust: TargetTrust = AS_USUAL,
) -> ForwardSender:
    """Returns what builds requests for a target, whatever its kind, and opens links to it."""
    if isinstance(target, CommandTarget):
        return CommandSender(target)
    return TargetSender(target, extra, connect, sign, trust)
