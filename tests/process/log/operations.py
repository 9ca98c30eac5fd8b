"""What happens to a team's log in operation; each while events come, and each has to be survived."""

import random
import signal
import time
from collections.abc import Callable, Sequence
from functools import partial

from process.log.day import STREAM, Day
from support.team.log import KEY, wait_for
from support.team.members import EventSender, Member
from support.team.servers import LogNode
from svc.listen.log.address import LogAddress
from svc.listen.log.streams import stream_info

QUEUE = f"CONSUMER.INFO.{STREAM}.g_ci"
PAUSE = 0.5


def killed(day: Day, nodes: Sequence[LogNode], *, wiped: bool = False) -> None:
    for node in nodes:
        node.wipe() if wiped else node.kill()
    time.sleep(PAUSE)
    for node in nodes:
        node.start()
    if wiped:
        wait_for(day.current, 90)
    day.flows()


def stopped(day: Day, nodes: Sequence[LogNode], seconds: float) -> None:
    for node in nodes:
        assert node.process is not None
        node.process.send_signal(signal.SIGSTOP)
    time.sleep(seconds)
    for node in nodes:
        assert node.process is not None
        node.process.send_signal(signal.SIGCONT)
    day.flows()


def again(day: Day, *members: Member, by: int = signal.SIGKILL) -> None:
    """Ends members and starts them again at once."""
    for one in members:
        if by == signal.SIGKILL:
            one.kill()
        else:
            assert one.end(by) in (143, 130), one.errors
    for one in members:
        one.start()
    day.flows()


def all_are_killed_by_turns(day: Day) -> None:
    """Servers, a majority of them too, and members: the next before the last has recovered."""
    drawn = random.Random(21)
    for _ in range(10):
        what = drawn.choice(("node", "node", "two", "all", "receiver", "laptop", "job", "job"))
        if many := {"node": 1, "two": 2, "all": 3}.get(what):
            nodes = drawn.sample(day.running.nodes, many)
            for node in nodes:
                node.kill()
            time.sleep(drawn.uniform(0.1, 1.0))
            for node in nodes:
                node.start()
        else:
            members = {"receiver": [day.receiver], "laptop": [day.anna, day.ben], "job": day.jobs}
            member = drawn.choice(members[what])
            member.kill()
            member.start()
        time.sleep(drawn.uniform(0.8, 2.2))
        revived(day)
    wait_for(lambda: not revived(day) and day.current(), 90)
    # One that was begun without a leader ends only when it has waited for one.
    day.flows(120, revive=lambda: revived(day))


def revived(day: Day) -> list[Member]:
    """Starts what has ended because the log had no leader when it began, as a supervisor does."""
    ended = [one for one in day.members if one.process is None or one.process.poll() is not None]
    for one in ended:
        one.start()
    return ended


# --- servers --------------------------------------------------------------------------------------


def a_follower_is_killed(day: Day) -> None:
    killed(day, day.followers()[:1])


def the_leader_of_the_events_is_killed(day: Day) -> None:
    killed(day, [day.leader()])


def the_leader_of_a_queue_is_killed(day: Day) -> None:
    killed(day, [day.leader(QUEUE)])


def two_servers_are_killed_and_nothing_is_taken(day: Day) -> None:
    """Below a majority: 503 and never 200; status and doctor of a laptop say it (line 14)."""
    day.run("anna", "events", "listen", "--from", day.url, "--timeout", "0", home="doctor")
    two = day.running.nodes[1:]
    for node in two:
        node.kill()
    before = len(day.ledger.acknowledged)
    time.sleep(4)
    taken = len(day.ledger.acknowledged)
    assert taken - before <= 64  # what a server had stored before it was killed

    def is_told() -> bool:  # the last leader says for some seconds that all is well
        status = ("events", "log", "status", "--from", day.url, *day.trust)
        env = {"SVC_LOG_CREDENTIALS": f"{day.users['anna']}\n{KEY}"}
        env |= {"SVC_BASE_URL": "https://api.example.com", "SVC_API_KEY": "sk_test_of_no_use_1"}
        done = day.svc(*status, env=env)
        return done.code == 11 and "nothing is taken" in done.error["message"]

    wait_for(is_told, 60)
    wait_for(lambda: is_told() and is_told(), 60)
    doctor = day.run("anna", "doctor", "-o", "json", code=11, home="doctor")
    [found] = [one for one in doctor.json if one["name"] == "log"]
    assert "nothing is taken" in found["detail"]
    for node in two:
        node.start()
    day.flows()


def all_servers_are_killed(day: Day) -> None:
    killed(day, day.running.nodes)


def a_follower_comes_back_empty(day: Day) -> None:
    killed(day, day.followers()[:1], wiped=True)


def the_leader_comes_back_empty(day: Day) -> None:
    killed(day, [day.leader()], wiped=True)


def the_leader_stands_still(day: Day) -> None:
    stopped(day, [day.leader()], 3)


def a_follower_stands_still(day: Day) -> None:
    stopped(day, day.followers()[:1], 3)


def all_servers_stand_still(day: Day) -> None:
    stopped(day, day.running.nodes, 2)


def the_leader_of_the_events_steps_down_five_times(day: Day) -> None:
    for _ in range(5):
        day.ask(f"STREAM.LEADER.STEPDOWN.{STREAM}")
        day.leader()
    day.flows()


def the_leader_of_a_queue_steps_down_five_times(day: Day) -> None:
    for _ in range(5):
        day.ask(f"CONSUMER.LEADER.STEPDOWN.{STREAM}.g_ci")
        day.leader(QUEUE)
    day.flows()


def servers_are_upgraded_one_by_one(day: Day) -> None:
    for node in day.running.nodes:
        node.kill(signal.SIGTERM)
        node.start()
        wait_for(day.current, 90)
    day.flows()


def certificates_are_renewed(day: Day) -> None:
    certificate = day.authority.issue("localhost", days=90).read_bytes()
    for node in day.running.nodes:
        for name in ("server", "server-key"):
            (node.folder / f"{name}.pem").write_bytes(certificate)
    reloaded(day)
    with day.connect() as connection:
        ends = connection.certificate_ends
    assert ends is not None
    assert ends - time.time() > 60 * 24 * 3600
    day.flows()


# --- members --------------------------------------------------------------------------------------


def the_receiver_is_killed(day: Day) -> None:
    again(day, day.receiver)


def the_receiver_is_ended(day: Day) -> None:
    again(day, day.receiver, by=signal.SIGTERM)


def two_receivers_take_the_same_event(day: Day) -> None:
    other = day.member("receiver", *day.receiver.argv[:-4], place="receiver-2")
    other.start()
    try:
        wait_for(lambda: bool(other.ready), 60)
        sender = EventSender(lambda: other.door)
        again_ = sorted(day.ledger.acknowledged)[-3:]
        for one in again_:
            assert sender.try_once(int(one.removeprefix("evt_"))) == 200
        # The ledger counts what the log holds: each once.
    finally:
        other.kill()


def a_laptop_is_killed(day: Day) -> None:
    again(day, day.anna)


def a_laptop_is_ended(day: Day) -> None:
    again(day, day.ben, by=signal.SIGTERM)


def a_laptop_sleeps(day: Day) -> None:
    assert day.anna.end() == 143
    known = len(day.ledger.acknowledged)
    wait_for(lambda: len(day.ledger.acknowledged) > known + 20, 60)
    day.anna.start()
    day.flows()


def a_job_is_killed(day: Day) -> None:
    again(day, day.jobs[0])


def both_jobs_are_killed(day: Day) -> None:
    again(day, *day.jobs)


def a_job_is_ended(day: Day) -> None:
    again(day, day.jobs[1], by=signal.SIGTERM)


# --- targets --------------------------------------------------------------------------------------


def target_is(name: str, how: int | None) -> Callable[[Day], None]:
    def away(day: Day) -> None:
        day.targets[name].be(how, 0.7)
        day.flows()

    what = "closes" if how is None else f"answers_{how}"
    away.__name__ = f"the_target_of_{name}_{what}_for_a_moment"
    return away


def the_target_of_a_laptop_goes_and_comes_back(day: Day) -> None:
    gone(day, "anna")


def the_target_of_the_jobs_goes_and_comes_back(day: Day) -> None:
    gone(day, "ci")


def gone(day: Day, name: str) -> None:
    server = day.targets[name].server
    server.__exit__()
    time.sleep(PAUSE)
    server.__enter__()
    day.flows()


def what_a_target_refuses_is_put_aside_given_again_and_dropped(day: Day) -> None:
    """Everybody sees it; an admin gives it to the group again, and drops it (line 4)."""
    failed, target = ("failed", "list"), day.targets["ci"]
    next_ = {f"evt_{day.next_number + n}" for n in (20, 21)}
    target.refused |= next_
    wait_for(lambda: next_ <= day.ledger.acknowledged, 60)

    def aside(user: str) -> set[str]:  # what was forged is there as well
        return next_ & {one["event"] for one in day.log(user, *failed)}

    wait_for(lambda: aside("ci") == next_, 30)
    for user in ("admin", "anna", "ci", "receiver"):
        assert day.log(user, "status")["failed"] >= 2
        assert aside(user) == next_
    assert day.log("ci", "failed", "show", min(next_))["reason"] == "the target answered 422"
    day.run("anna", "events", "log", "failed", "retry", min(next_), "--from", day.url, code=4)
    target.refused.clear()
    assert day.log("admin", "failed", "retry", min(next_))["retried"]
    wait_for(lambda: target.server.ids.count(min(next_)) == 2, 30)
    assert day.log("admin", "failed", "drop", max(next_))["dropped"]
    assert aside("admin") == set()
    day.retried.add(min(next_))


# --- operators ------------------------------------------------------------------------------------


def reloaded(day: Day) -> None:
    """Reloads each server, twice, as its unit of systemd does."""

    def newer(node: LogNode, loaded: str) -> bool:
        return bool(node.monitored("varz")["config_load_time"] != loaded)

    for _ in range(2):
        for node in day.running.nodes:
            loaded = node.monitored("varz")["config_load_time"]
            node.reload(node.config)
            wait_for(partial(newer, node, loaded), 30)


def changed(day: Day, *argv: str) -> str:
    users = day.folder / "users.conf"
    command = ("events", "log", "user", *argv, "--users", str(users))
    done = day.svc(*command, env={"SVC_LOG_CREDENTIALS": KEY})
    assert done.code == 0, done.err
    for node in day.running.nodes:
        (node.folder / "users.conf").write_bytes(users.read_bytes())
    reloaded(day)
    return done.out


def may_read(day: Day, user: str) -> bool:
    with_trust = ("events", "log", "status", "--from", day.url, *day.trust)
    return day.svc(*with_trust, env={"SVC_LOG_CREDENTIALS": day.users[user]}).code == 0


def a_user_comes(day: Day) -> None:
    day.users["carl"] = changed(day, "add", "carl").strip()
    wait_for(lambda: may_read(day, "carl"), 30)


def a_password_is_changed(day: Day) -> None:
    day.users["carl-before"] = day.users["carl"]
    day.users["carl"] = changed(day, "rotate", "carl").strip()
    wait_for(lambda: may_read(day, "carl") and not may_read(day, "carl-before"), 30)


def a_user_leaves(day: Day) -> None:
    changed(day, "remove", "carl")
    wait_for(lambda: not may_read(day, "carl"), 30)
    day.flows()


def a_group_begins_with_all(day: Day) -> None:
    begun(day, "early", "all", lambda waiting, held: waiting >= held > 0)


def a_group_begins_at_now(day: Day) -> None:
    begun(day, "late", "now", lambda waiting, held: waiting < held / 2)


def begun(day: Day, name: str, start: str, right: Callable[[int, int], bool]) -> None:
    held = len(day.ledger.acknowledged)
    day.run("admin", "events", "log", "create", "--to", day.url, "--group", name, "--from", start)
    groups = {one["name"]: one["waiting"] for one in day.log("admin", "status")["groups"]}
    assert right(groups[name], held), (groups, held)
    day.ask(f"CONSUMER.DELETE.{STREAM}.g_{name}")


def the_log_is_full_and_has_room_again(day: Day) -> None:
    """Nothing that is unread is dropped for what is new, and the service comes again."""
    config = day.ask(f"STREAM.INFO.{STREAM}")["config"]
    day.ask(f"STREAM.UPDATE.{STREAM}", {**config, "max_bytes": 20_000})
    away = day.ledger.sent_away
    wait_for(lambda: day.ledger.sent_away > away, 30)
    assert "The log is full" in day.receiver.told("rejected")[-1]["message"]
    day.ask(f"STREAM.UPDATE.{STREAM}", config)
    day.flows()


def a_laptop_writes_the_address_in_another_way(day: Day) -> None:
    """Its position is of the stream: nothing is skipped, nothing comes again (line 2)."""
    assert day.anna.end() == 143
    hosts = [f"localhost:{node.port}" for node in reversed(day.running.nodes)]
    other = f"nats+tls://{','.join(hosts)}/shop"
    assert LogAddress.parse(other, "--from").name == "shop"
    day.anna.argv = tuple(other if one == day.url else one for one in day.anna.argv)
    day.anna.start()
    day.flows()


def every_role_sees_how_the_log_is(day: Day) -> None:
    with day.connect() as connection:
        assert connection.run(stream_info(connection, "test"))["config"]["num_replicas"] == 3
    wait_for(day.current, 60)
    for user in ("admin", "receiver", "anna", "ci"):
        shown = day.log(user, "status")
        assert shown["replicas"] == 3
        assert [one["name"] for one in shown["groups"]] == ["ci"]
        assert (shown["readers"] is None) == (user != "admin")


def doctor_looks_at_every_server(day: Day) -> None:
    day.run("anna", "events", "listen", "--from", day.url, "--timeout", "0", home="doctor")
    monitors = [w for node in day.running.nodes
                for w in ("--log-monitor", f"http://127.0.0.1:{node.monitor}")]  # fmt: skip
    one = day.run("anna", "doctor", *monitors[:2], "-o", "json", code=11, home="doctor")
    assert "on 1 of 3 servers" in one.out
    every = day.run("anna", "doctor", *monitors, "-o", "json", code=11, home="doctor")
    assert "always on" not in every.out


def the_log_is_lost_and_filled_again(day: Day) -> None:
    """Laptops are told that it is another one; the receiver's copies are put in again (line 3)."""
    for one in (day.anna, day.ben):
        assert one.end() == 143
    day.ask(f"STREAM.DELETE.{STREAM}")
    create = ("create", "--to", day.url, "--group", "ci", "--max-bytes", "256MiB")
    day.run("admin", "events", "log", *create)
    known = len(day.ledger.acknowledged)  # more come while it is filled
    filled = day.run("receiver", "events", "log", "refill", "--to", day.url, home="receiver").json
    assert filled["copies"] >= known
    for one in (day.anna, day.ben):
        one.start()
    wait_for(lambda: "replaced" in [one["state"] for one in day.anna.told("log")], 30)
    day.flows()


QUICK: tuple[Callable[[Day], None], ...] = (
    every_role_sees_how_the_log_is,
    the_receiver_is_killed,
    two_receivers_take_the_same_event,
    a_laptop_is_killed,
    a_job_is_killed,
    target_is("ci", 503),
    target_is("ci", None),
    what_a_target_refuses_is_put_aside_given_again_and_dropped,
    the_log_is_full_and_has_room_again,
    a_laptop_writes_the_address_in_another_way,
    a_laptop_sleeps,
    the_leader_of_the_events_is_killed,
    a_follower_comes_back_empty,
    all_are_killed_by_turns,
    two_servers_are_killed_and_nothing_is_taken,
)
LATER: tuple[Callable[[Day], None], ...] = (
    the_receiver_is_ended,
    a_laptop_is_ended,
    both_jobs_are_killed,
    a_job_is_ended,
    target_is("ci", 429),
    target_is("ci", 502),
    target_is("ci", 504),
    target_is("anna", 503),
    target_is("anna", None),
    target_is("ben", 503),
    the_target_of_a_laptop_goes_and_comes_back,
    the_target_of_the_jobs_goes_and_comes_back,
    a_user_comes,
    a_password_is_changed,
    a_user_leaves,
    a_group_begins_with_all,
    a_group_begins_at_now,
    doctor_looks_at_every_server,
    certificates_are_renewed,
    a_follower_is_killed,
    the_leader_of_a_queue_is_killed,
    the_leader_of_the_events_steps_down_five_times,
    the_leader_of_a_queue_steps_down_five_times,
    the_leader_stands_still,
    a_follower_stands_still,
    all_servers_stand_still,
    all_servers_are_killed,
    the_leader_comes_back_empty,
    servers_are_upgraded_one_by_one,
    the_log_is_lost_and_filled_again,
)
