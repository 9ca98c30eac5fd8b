"""What is said of a team's log by its versions, limits, copies, clock and certificate.

It lies in `checks.txt`; after a change that is meant, `GOLDEN=write` writes it anew.
"""

from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from support.serving import QuietHandler, serving
from support.suite.golden import hold_golden
from svc.errors import ConfigError, SvcError
from svc.listen.log import checks
from svc.listen.log.checks import Remark

MIB, DAY, NANO = 1 << 20, 86400, 1_000_000_000
WEEK = {"discard": "new", "max_bytes": 100 * MIB, "max_age": 7 * DAY * NANO}
NOW = 1_790_863_402.0


def stream(used: int, **config: Any) -> dict[str, Any]:
    return {"config": {**WEEK, **config}, "state": {"bytes": used}}


def cluster(copies: int, *current: bool, leader: str = "a") -> dict[str, Any]:
    others = [{"current": True, "offline": not one} for one in current]
    return {
        "config": {"num_replicas": copies},
        "cluster": {"leader": leader, "replicas": [*others, {"current": False}]},
    }


def remarks() -> Iterator[Remark]:
    for versions in (["2.12.3"], ["2.12.10", "2.9.9"], ["2.12.2"], ["3.0.0"], ["nothing"], [""]):
        yield checks.version(versions)
    for most in (65536 + 99, 65536 + 100):
        client = SimpleNamespace(max_payload=most)
        yield checks.payload(cast("Any", SimpleNamespace(client=client)), 100)
    yield checks.replicas({"config": {}})
    yield checks.replicas({"config": {"num_replicas": 3}})
    for told in (cluster(3, True, True), cluster(3, True), cluster(3), cluster(3, leader="")):
        yield checks.replicas(told)
    yield checks.replicas(cluster(5, True, True))
    yield checks.replicas(cluster(4, True))
    for used in (0, 80 * MIB, 80 * MIB + 1, 96 * MIB - 1, 96 * MIB):
        yield checks.limits(stream(used))
    for config in ({"discard": "old"}, {"max_bytes": 0}, {"max_age": 7 * DAY * NANO - NANO}):
        yield checks.limits(stream(1 << 30 if "max_bytes" in config else 5 * MIB, **config))


def remarks_of_servers(monkeypatch: pytest.MonkeyPatch) -> Iterator[Remark]:
    good = {"version": "2.12.3", "jetstream": {"config": {"sync_always": True}}}
    servers: dict[str, Any] = {
        "a": {**good, "server_id": "A"},
        "b": {**good, "server_id": "B"},
        "late": {"version": "2.12.3", "server_id": "C", "server_name": "third"},
        "slow": {
            **good,
            "jetstream": {"config": {"sync_interval": 120 * NANO}},
            "server_name": "s",
        },
        "old": {**good, "version": "2.10.0"},
    }
    monkeypatch.setattr(checks, "_varz", servers.__getitem__)
    for asked in ("", "a", "aa", "ab", "a late", "slow", "old"):
        yield checks.sync(asked.split() if " " in asked or len(asked) > 2 else [*asked], 2)
    for stamp in ("2026-10-01T14:03:22Z", "2026-10-01T14:02:52.000000001Z", None):
        yield checks.clock({"ts": stamp}, NOW)
    for skew in (-30, -29, 29, 30, 300, 301):
        yield checks.clock({"ts": "2026-10-01T14:03:22.000000001Z"}, NOW + skew)
    for ends in ([], [None], [NOW + 15 * DAY, None], [NOW + 14 * DAY, NOW + 20 * DAY], [NOW - DAY]):
        yield checks.certificate(ends, NOW)
    yield checks.put_aside(1200, "nats://log.example/shop")


def refusals(found: list[Remark]) -> Iterator[str]:
    for one in found:
        try:
            checks.refuse(one, "--to")
        except SvcError as error:
            yield f"{error.code} {error.param} {error.message} | {error.hint}"


def test_a_server_is_asked_by_its_monitoring_address_whatever_the_proxy(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """What answers something else there is told as none; as it says nothing, it syncs nothing."""
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:1")
    told = [
        b'{"server_id": "a", "version": "2.12.3", "jetstream": {"config": {"sync_always": true}}}'
    ]
    told += [b"[]", b"{"]

    class Monitor(QuietHandler):
        def get(self) -> None:
            assert self.path == "/varz"
            self.answer(200, told[0])

    with serving(Monitor) as origin:
        assert checks.sync([f"{origin}/"], 1) == Remark("sync", "ok", "sync_interval: always")
        told.pop(0)
        assert checks.sync([origin], 1).name == "version"
        told.pop(0)
        with pytest.raises(ConfigError, match=f"monitoring address {origin} does not") as caught:
            checks.sync([origin], 1)
    assert (caught.value.code, caught.value.param) == ("log_monitor_unreachable", "--log-monitor")


def test_each_state_of_a_log_is_told_as_agreed(monkeypatch: pytest.MonkeyPatch) -> None:
    found = [*remarks(), *remarks_of_servers(monkeypatch)]
    told = [f"{one.name}: {one.verdict}: {one.detail} | {one.fix}" for one in found]
    told += refusals(found)
    hold_golden(Path(__file__).with_name("checks.txt"), "\n".join(told) + "\n")
