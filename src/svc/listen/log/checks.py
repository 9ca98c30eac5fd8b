"""Checks whether a log keeps what it acknowledges: versions, replicas, limits, sync, rights.

`svc events receive`, `listen --from`, `audit` and `log refill` refuse a log by these checks or warn
of it (`cli.events.team`); `svc doctor` prints each result.
"""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal
from urllib.request import ProxyHandler, build_opener

from svc.errors import AuthError, ConfigError, UsageError
from svc.listen.log.connection import LogConnection, decode
from svc.listen.log.errors import LogDown, LogRefusal
from svc.listen.log.streams import MAX_AGE_SECONDS, moment, origin_and_mode, replicas_current
from svc.service.facts import SIGNATURE_TOLERANCE_SECONDS, Mode

OLDEST: Final = (2, 12, 3)
HEADER_ROOM: Final = 64 * 1024
_MONITOR_SECONDS: Final = 5.0
_MONITOR_BYTES: Final = 1 << 20
_NANO: Final = 1_000_000_000
_MAJORITY_OF: Final = 3
_SKEW_SECONDS: Final = 30.0
_WARNED_DAYS: Final = 14
_LARGER: Final = "Make it larger (svc events log create --max-bytes)"
# A message that no stream takes: it is for another one, and comes after one that never was.
_NOWHERE: Final = {"Nats-Expected-Stream": "none", "Nats-Expected-Last-Msg-Id": "none"}

LogVerdict = Literal["ok", "warning", "failed"]


@dataclass(frozen=True, slots=True)
class Remark:
    """The result of one check; `fix` is the remedy where it is not ok."""

    name: str
    verdict: LogVerdict
    detail: str
    fix: str | None = None


def version(versions: Iterable[str]) -> Remark:
    """Checks the servers' versions: older ones lose events that they have acknowledged."""
    text = min(versions, key=_numbers)
    floor = ".".join(map(str, OLDEST))
    if _numbers(text) >= OLDEST:
        return Remark("version", "ok", f"nats-server {text}")
    return Remark(
        "version",
        "failed",
        f"nats-server {text or 'of unknown version'} is older than {floor}: it may lose events "
        "that it has acknowledged when servers leave and join",
        "Install the one from nats.io or its container; a Linux distribution's is often too old",
    )


def _numbers(text: str) -> tuple[int, ...]:
    numbers = re.match(r"(\d+)\.(\d+)\.(\d+)", text)
    return tuple(map(int, numbers.groups())) if numbers is not None else ()


def payload(connection: LogConnection, max_body: int) -> Remark:
    """Checks that the largest delivery fits, with its headers; `max_body` is in bytes."""
    most, needed = connection.client.max_payload, max_body + HEADER_ROOM
    if most >= needed:
        return Remark("max_payload", "ok", f"messages of {most} bytes")
    return Remark(
        "max_payload",
        "failed",
        f"the log takes messages of {most} bytes; an event may have {max_body}, with headers "
        f"{needed}",
        "Set max_payload: 4MB in the servers' configuration, or give a smaller --max-body",
    )


def replicas(info: Mapping[str, Any]) -> Remark:
    """Checks how many servers have every event."""
    current, wanted = replicas_current(info)
    if wanted < _MAJORITY_OF:
        return Remark(
            "replicas",
            "warning",
            f"the stream has {wanted} copy: with its server's disk the events are gone",
            "For more than a trial run three servers: svc events log template",
        )
    if current <= wanted // 2:
        return Remark(
            "replicas",
            "failed",
            f"{current} of {wanted} copies are current: nothing is taken",
            "Start a second server; what was acknowledged is on a majority of them",
        )
    if current < wanted:
        return Remark(
            "replicas",
            "warning",
            f"{current} of {wanted} copies are current",
            "Replace no other server before all are; never peer-remove while one is away",
        )
    return Remark("replicas", "ok", f"{current} of {wanted} current")


def limits(info: Mapping[str, Any]) -> Remark:
    """Checks how full the stream is, and what it does when it is full."""
    config, state = info["config"], info["state"]
    used, most = int(state.get("bytes", 0)), int(config.get("max_bytes", -1))
    days = int(config.get("max_age", 0)) / _NANO / 86400
    if config.get("discard") != "new":
        return Remark(
            "space",
            "warning",
            "a full log drops the oldest events, read or not, in silence",
            "svc events log create shows what differs; set discard to new",
        )
    if most <= 0:
        return Remark("space", "warning", "the stream has no limit but the disk's", "Set max_bytes")
    share = used / most
    text = f"{used / 2**20:,.0f} of {most / 2**20:,.0f} MiB used, events stay {days:g} days"
    if share >= 1 - 4 * 2**20 / most:
        return Remark("space", "failed", f"the log is full: {text}", f"{_LARGER}, or wait")
    if share > 0.8:  # noqa: PLR2004  a fifth is left
        return Remark("space", "warning", text, f"{_LARGER} before it is full")
    short = config.get("max_age", 0) < MAX_AGE_SECONDS * _NANO
    if short:
        return Remark("space", "warning", text, "Set max_age to 7d: people are away for longer")
    return Remark("space", "ok", text)


def sync(monitors: Sequence[str], servers: int) -> Remark:
    """Checks whether servers write to the disk before they acknowledge, if that is visible.

    `servers` is how many there are.

    Raises:
        ConfigError: a monitoring address does not answer.
    """
    if not monitors:
        return Remark(
            "sync",
            "warning",
            "whether the log writes to the disk before it acknowledges is not visible from here",
            "Give the monitoring address of a server: --log-monitor http://HOST:8222",
        )
    found = {str(one.get("server_id", "")): one for one in map(_varz, monitors)}
    for one in found.values():
        old = version([str(one.get("version", ""))])
        if old.verdict != "ok":
            return old
        config = (one.get("jetstream") or {}).get("config") or {}
        if not config.get("sync_always"):
            minutes = int(config.get("sync_interval", 0)) / _NANO / 60
            return Remark(
                "sync",
                "failed",
                f"{one.get('server_name')} writes to the disk every {minutes:g} min: a power cut "
                "loses what it has acknowledged since",
                "Set sync_interval: always in the jetstream part of every server's configuration",
            )
    if len(found) < servers:
        return Remark(
            "sync",
            "warning",
            f"sync_interval: always on {len(found)} of {servers} servers; the others were not "
            "looked at",
            "Give --log-monitor for each of them",
        )
    return Remark("sync", "ok", "sync_interval: always")


def clock(info: Mapping[str, Any], now: float) -> Remark:
    """Compares this machine's clock, `now` in unix seconds, with the log's."""
    text = info.get("ts")
    skew = now - moment(text) if isinstance(text, str) else 0.0
    if abs(skew) < _SKEW_SECONDS:
        return Remark("clock", "ok", "the clocks agree")
    way = "ahead of" if skew > 0 else "behind"
    also = "; an app on another machine refuses what is signed here"
    return Remark(
        "clock",
        "warning",
        f"this machine's clock is {abs(skew):.0f} s {way} the log's"
        + (also if abs(skew) > SIGNATURE_TOLERANCE_SECONDS else ""),
        "Set the clock by network time, such as: timedatectl set-ntp true",
    )


def certificate(ends: Iterable[float | None], now: float) -> Remark:
    """Checks when the first certificate of the servers ends; all in unix seconds."""
    first = min((one for one in ends if one is not None), default=None)
    if first is None:
        return Remark("certificate", "ok", "no certificate")
    days = (first - now) / 86400
    if days > _WARNED_DAYS:
        return Remark("certificate", "ok", f"the certificate ends in {days:.0f} days")
    return Remark(
        "certificate",
        "warning",
        f"the server's certificate ends in {max(days, 0):.1f} days",
        "Replace its files and reload the server: svc help team-operations",
    )


def put_aside(failed: int, log: str) -> Remark:
    """Reports the events that groups have put aside, which wait for a person."""
    fix = f"Look at them: svc events log failed list --from {log}"
    return Remark("failed", "warning", f"{failed:,} put aside by groups", fix)


async def rights(connection: LogConnection, mode: Mode) -> Remark:
    """Checks whether a reader may publish as well; publishes nothing."""
    if connection.is_apart:
        return Remark("rights", "ok", "its user may not publish")
    subject = connection.address.subject(mode, "order.paid")
    try:
        decode(await connection.request(subject, b"", _NOWHERE))
    except AuthError:
        return Remark("rights", "ok", "its user may not publish")
    except LogDown:
        return Remark("rights", "warning", "whether its user may publish was not answered")
    except LogRefusal:
        pass  # what it answers to a client that may publish
    user = connection.credentials.user if connection.credentials else None
    return Remark(
        "rights",
        "warning",
        f"{f'its user {user}' if user else 'every client'} may publish, and so forge events; "
        "only receivers need that",
        "Give each reader the rights that svc events log template writes for a laptop",
    )


def belongs(info: Mapping[str, Any], origin: str | None, mode: str) -> None:
    """Refuses a stream of another service (`origin`, None for a reader) or mode: UsageError."""
    its_origin, its_mode = origin_and_mode(info["config"])
    if its_mode is not None and its_mode != mode:
        raise UsageError(
            f"The stream holds events of {its_mode} mode, and this profile is of {mode} mode.",
            code="log_of_other_mode",
        )
    if origin is not None and its_origin is not None and its_origin != origin:
        raise UsageError(
            f"The stream holds events of {its_origin}, and this profile is of {origin}.",
            code="log_of_other_origin",
            hint="Give every service a log of its own: another NAME",
        )


def refuse(remark: Remark, param: str) -> None:
    """Refuses to go on with what has failed; raises ConfigError: it has."""
    if remark.verdict == "failed":
        raise ConfigError(
            f"The log cannot be used: {remark.detail}.",
            code=f"log_{remark.name}",
            param=param,
            hint=remark.fix,
        )


def _varz(monitor: str) -> dict[str, Any]:
    try:
        with build_opener(ProxyHandler({})).open(
            f"{monitor.rstrip('/')}/varz", timeout=_MONITOR_SECONDS
        ) as answer:
            data = json.loads(answer.read(_MONITOR_BYTES))
    except (OSError, ValueError) as error:
        raise ConfigError(
            f"The monitoring address {monitor} does not answer as one: {error}.",
            code="log_monitor_unreachable",
            param="--log-monitor",
        ) from None
    return data if isinstance(data, dict) else {}
