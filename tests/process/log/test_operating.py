"""An operator's day: users without a restart, what was put aside, sizes, a majority that is gone."""

import json
import re
from functools import partial
from pathlib import Path
from unittest.mock import ANY

import pytest

from support.listening import OK, Received, TargetServer, status_line
from support.running import Result, Svc
from support.servers.certificates import Authority
from support.team.commands import TeamCommands
from support.team.log import KEY, ORIGIN, connect, job, laptop, make_streams, publish, wait_for
from support.team.servers import Servers, servers
from svc.listen.inbox.interfaces import Position
from svc.listen.output_records import LogReplaced

pytestmark = pytest.mark.usefixtures("needed")
MINUTE = 60


@pytest.mark.effect_of("events log user add", "--users")
@pytest.mark.effect_of("events log user remove", "--users")
@pytest.mark.effect_of("events log user rotate", "--users")
def test_users_come_and_go_with_a_reload(team: TeamCommands) -> None:
    """No server is restarted; whoever is removed is let in no more, a rotated password neither."""
    node, users = team.running.nodes[0], team.folder / "server" / "users.conf"
    change = ("events", "log", "user")
    status = ("events", "log", "status", "--from", team.url)

    def is_newer(loaded: str) -> bool:
        return bool(node.monitored("varz")["config_load_time"] != loaded)

    def reloaded(*argv: str) -> Result:
        done = team.svc(*change, *argv, "--users", str(users), env={"SVC_LOG_CREDENTIALS": KEY})
        assert done.code == 0, done.err
        for _ in range(2 if argv[0] == "add" else 1):  # as its unit of systemd does
            loaded = node.monitored("varz")["config_load_time"]
            node.reload(node.config)
            wait_for(partial(is_newer, loaded))
        return done

    def code(credentials: str) -> int:
        return team.svc(*status, env={"SVC_LOG_CREDENTIALS": credentials}).code

    carl = reloaded("add", "carl").out
    assert KEY in carl
    wait_for(lambda: code(carl) == 0)
    renewed = reloaded("rotate", "anna").out
    wait_for(lambda: (code(renewed), code(team.users["anna"])) == (0, 4))
    reloaded("remove", "carl")
    wait_for(lambda: code(carl) == 4)
    assert code(team.users["ben"]) == 0
    text = users.read_text()
    assert "$2b$" in text
    assert not any(one.partition(":")[2].strip() in text for one in team.users.values())
    assert node.process is not None
    assert node.process.poll() is None


@pytest.mark.effect_of("events log failed drop", "--from")
@pytest.mark.effect_of("events log failed list", "--from")
@pytest.mark.effect_of("events log failed retry", "--from")
@pytest.mark.effect_of("events log failed show", "--from")
def test_what_a_group_put_aside_is_listed_and_given_to_it_again(  # noqa: PLR0915  one story
    team: TeamCommands, tmp_path: Path
) -> None:
    """To that group alone, marked; everybody with a password sees how many there are."""
    well = False

    def reply(request: Received) -> bytes:
        return OK if well or b'"evt_3"' not in request.body else status_line(422)

    log, failed = ("--from", team.url), ("events", "log", "failed")
    admin, ci = f"{team.users['admin']}\n{KEY}", f"{team.users['ci']}\n{KEY}"
    anna = f"{team.users['anna']}\n{KEY}"
    with (
        TargetServer(reply) as target,
        TargetServer() as other,
        connect(team.running, admin) as connection,
        job(team.running, tmp_path / "a", target.port, credentials=ci) as shared,
    ):
        publish(connection, range(6))
        shared.forwards(6)
        wait_for(lambda: len(team.run("ci", *failed, "list", *log).json) == 1)
        [one] = team.run("anna", *failed, "list", *log).json
        assert (one["event"], one["type"], one["group"]) == ("evt_3", "order.paid", "ci")
        assert one["reason"] == "the target answered 422"
        for user in ("admin", "anna", "ci"):
            status = team.run(user, "events", "log", "status", *log).json
            assert (status["failed"], status["groups"][0]["failed"]) == (1, 1)
        team.run("anna", "events", "listen", *log, "--timeout", "0")
        doctor = team.svc("doctor", "-o", "json", env=team.env("anna")).out
        assert "1 put aside by groups" in doctor
        shown = team.run("ci", *failed, "show", "evt_3", *log).json
        assert json.loads(shown["payload"])["id"] == "evt_3"
        refused = team.run("anna", *failed, "retry", "evt_3", *log, code=4)
        assert "svc.shop.test.order.paid" in refused.error["message"]
        well = True
        assert team.run("admin", *failed, "retry", "evt_3", *log).json["retried"]
        wait_for(lambda: target.ids.count("evt_3") == 2)
        with laptop(team.running, tmp_path / "b", other.port, credentials=anna) as own:
            own.events(6)
            own.until(lambda: own.inbox.position() == Position(7, ANY))  # of what is not for it
        with laptop(team.running, tmp_path / "b", other.port, credentials=anna) as own:
            publish(connection, [7])
            own.events(1)
            assert own.told(LogReplaced) == []  # R130: it is the same log
    again = [one for one in target.received if b'"evt_3"' in one.body][-1]
    assert again.header("svc-redelivered") != []
    assert sorted(other.ids) == sorted(f"evt_{number}" for number in (0, 1, 2, 3, 4, 5, 7))
    assert team.run("admin", *failed, "list", *log).json == []
    missing = team.run("admin", *failed, "drop", "evt_3", *log, code=5)
    assert "failed list" in missing.error["message"]


def test_what_was_put_aside_goes_with_its_log(team: TeamCommands) -> None:
    """R130: its numbers would be those of other events in a log that is made anew."""
    log = ("--from", team.url)
    note = {"consumer": "g_ci", "stream_seq": 1, "timestamp": "2026-11-24T10:00:00Z"}
    subject = "$JS.EVENT.ADVISORY.CONSUMER.MSG_TERMINATED.SVC_shop_test.g_ci"
    with connect(team.running, f"{team.users['admin']}\n{KEY}") as connection:
        publish(connection, [1])
        connection.run(connection.request(subject, json.dumps(note).encode()))
        [one] = team.run("admin", "events", "log", "failed", "list", *log).json
        assert one["event"] == "evt_1"
        connection.run(connection.api("STREAM.DELETE.SVC_shop_test"))
        team.run("admin", "events", "log", "create", "--to", team.url, "--replicas", "1")
        publish(connection, [2])
    assert team.run("admin", "events", "log", "failed", "list", *log).json == []


@pytest.mark.effect_of(
    "events log create",
    "--events-per-minute",
    "--from",
    "--group",
    "--max-bytes",
    "--replicas",
    "--to",
)
def test_a_log_is_sized_and_its_groups_begin_where_they_are_told_to(team: TeamCommands) -> None:
    create = ("events", "log", "create", "--to", team.url, "--replicas", "1")
    with connect(team.running, f"{team.users['admin']}\n{KEY}") as connection:
        publish(connection, range(3))
    again = team.run("admin", *create).json["streams"][0]
    assert (again["made"], again["changed"]) == (False, [])
    assert [one["field"] for one in again["differs"]] == ["max_bytes"]
    larger = team.run("admin", *create, "--max-bytes", "128MiB").json["streams"][0]
    assert (larger["changed"], larger["differs"]) == (["max_bytes"], [])
    week = team.run("admin", *create, "--events-per-minute", "10000").json["streams"][0]
    assert (week["changed"], week["differs"]) == (["max_bytes"], [])
    small = team.run("admin", *create, "--max-bytes", "900GiB", code=2)
    assert "--max-file-store" in small.error["message"]
    team.run("admin", *create, "--group", "late", "--from", "now")
    team.run("admin", *create, "--group", "early", "--from", "1h")
    groups = team.run("admin", "events", "log", "status", "--from", team.url).json["groups"]
    assert {one["name"]: one["waiting"] for one in groups} == {"ci": 3, "late": 0, "early": 3}
    share = ("events", "listen", "--from", team.url, "--group", "ci", "--forward-to", "9")
    assert "the group ci, 3 waiting" in team.run("ci", *share, "--timeout", "0").err
    status = team.run("admin", "events", "log", "status", "--from", team.url).json
    assert status["max_bytes"] == 151 << 30  # as the page says


@pytest.mark.effect_of("doctor", "--log-monitor")
@pytest.mark.effect_of("events log forget", "--from")
def test_a_laptop_reports_how_far_it_is_and_leaves_no_error_at_the_server(
    team: TeamCommands, tmp_path: Path
) -> None:
    """Its admin sees the lag; status and doctor of a laptop ask for nothing that it may not."""
    anna = f"{team.users['anna']}\n{KEY}"
    with connect(team.running, f"{team.users['admin']}\n{KEY}") as connection:
        publish(connection, range(3))
        with laptop(team.running, tmp_path / "a", credentials=anna) as listener:
            listener.events(3)
        publish(connection, range(3, 5))
    status = ("events", "log", "status", "--from", team.url)
    assert team.run("anna", *status).json["readers"] is None
    [reader] = team.run("admin", *status).json["readers"]
    assert (reader["name"], reader["behind"]) == ("anna", 2)
    assert reader["reported_seconds"] < MINUTE
    team.run("anna", "events", "listen", "--from", team.url, "--timeout", "0")
    doctor = team.svc(
        "doctor", "--log-monitor", team.running.monitor, "-o", "json", env=team.env("anna")
    )
    [log] = [one for one in doctor.json if one["name"] == "log"]
    assert "sync_interval: always" in log["detail"]
    assert "[ERR]" not in (team.folder / "server" / "out").read_text()
    forgotten = team.run("anna", "events", "log", "forget", "--from", team.url)
    assert forgotten.json["listeners"] == 1
    after = team.svc("doctor", "-o", "json", env=team.env("anna")).json
    assert "log" not in [one["name"] for one in after]
    monitor = ("--log-monitor", team.running.monitor)  # on a server that no member works on
    [seen] = [
        one for one in team.svc("doctor", *monitor, "-o", "json").json if one["name"] == "log"
    ]
    assert (seen["status"], "sync_interval: always" in seen["detail"]) == ("ok", True)


@pytest.mark.effect_of("events listen", "--from-start")
def test_position_is_of_the_stream_and_not_of_its_address(team: TeamCommands) -> None:
    """R130: another spelling of the address is another way to the same log; nothing is skipped."""
    port = team.running.nodes[0].port
    hosts = (f"127.0.0.1:{port}", f"localhost:{port}", f"localhost:{port},127.0.0.1:{port}")
    listen = ("events", "listen", "--strict", "--until", "order.paid:2", "--timeout", "20")
    start: tuple[str, ...] = ("--from-start", "all")
    with connect(team.running, f"{team.users['admin']}\n{KEY}") as connection:
        for number, spelled in enumerate(hosts):
            publish(connection, [2 * number, 2 * number + 1])
            argv = (*listen, *start, "--from", f"nats://{spelled}/shop", "-o", "ndjson")
            records = map(json.loads, team.run("anna", *argv).out.splitlines())
            found = [one["id"] for one in records if one["record"] == "event"]
            assert found == [f"evt_{2 * number}", f"evt_{2 * number + 1}"]
            start = ()  # else a new position would begin at now


@pytest.mark.parametrize("anew", [True, False])
def test_log_that_is_another_one_is_told(anew: bool, server: Servers, tmp_path: Path) -> None:
    """R130: made anew or restored from an older copy; what it has is read, what is gone is said."""
    with connect(server) as connection, TargetServer() as target:
        publish(connection, range(10))
        with laptop(server, tmp_path / "a", target.port) as listener:
            listener.forwards(10)
        stream = connection.address.stream("test")
        connection.run(connection.api(f"STREAM.DELETE.{stream}"))
        make_streams(server)
        publish(connection, range(4) if not anew else range(20, 24))
        with laptop(server, tmp_path / "a", target.port) as listener:
            [told] = listener.told(LogReplaced, 1)
            listener.events(4)
            publish(connection, [30])
            listener.events(5)
        with laptop(server, tmp_path / "a", target.port) as listener:
            publish(connection, [31])
            listener.events(1)
            assert listener.told(LogReplaced) == []
    assert (told.read, told.events, told.gone) == (10, 4, 6)
    assert "svc events log refill" in told.message
    had = {f"evt_{number}" for number in range(10)}
    new = {"evt_30", "evt_31"} | ({f"evt_{n}" for n in range(20, 24)} if anew else set())
    assert sorted(target.ids) == sorted(had | new)


def test_doctor_warns_before_a_certificate_ends(  # noqa: PLR0915  one story
    needed: None, svc: Svc, tmp_path: Path
) -> None:
    """Fourteen days before; a renewed one counts after a reload, without a restart."""
    authority = Authority(tmp_path)
    file = authority.issue("127.0.0.1", days=13)
    renewed = tmp_path / "renewed.pem"
    renewed.write_bytes(authority.issue("127.0.0.1", days=40).read_bytes())
    authority.issue("127.0.0.1", days=13)
    env = {"SVC_LOG_CREDENTIALS": KEY, "SVC_BASE_URL": ORIGIN, "SVC_API_KEY": "sk_test_of_no_use_1"}
    tls = f'tls {{ cert_file: "{file}", key_file: "{file}" }}'
    with (
        servers(tmp_path / "log", more=tls.replace(str(file), str(renewed))) as first,
        servers(tmp_path / "other", more=tls) as running,
    ):
        running.scheme = "nats+tls"
        node = running.nodes[0]
        running.nodes.insert(0, first.nodes[0])  # which answers first; the other is looked at too
        url = running.url()

        def run(*argv: str) -> Result:
            return svc(*argv, "--ca-bundle", str(authority.file), env=env)

        def detail() -> str:
            [log] = [one for one in run("doctor", "-o", "json").json if one["name"] == "log"]
            return str(log["detail"])

        create = ("--replicas", "1", "--max-bytes", "64MiB")
        assert run("events", "log", "create", "--to", url, *create).code == 0
        run("events", "listen", "--from", url, "--timeout", "0")
        assert re.search(r"the server's certificate ends in 1[23]\.\d days", detail())
        authority.issue("127.0.0.1", days=40)
        pid = node.process.pid if node.process else None
        node.reload(node.config)
        wait_for(lambda: "the certificate ends in 40 days" in detail())
        assert node.process is not None
        assert node.process.pid == pid
        assert node.process.poll() is None
