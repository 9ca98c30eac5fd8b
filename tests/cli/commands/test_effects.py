"""Every option does something, and a test shows it."""

import re
from functools import cache
from pathlib import Path
from typing import Any, Final
from urllib.parse import parse_qsl, unquote

import pytest

from support.calls import NEEDS, example_of
from support.listeners import Listen
from support.listening import TargetServer
from support.running import Sandbox, Svc, command_tree
from support.serving import free_port
from svc import service
from svc.client.options import RequestOption, options_of
from svc.completion.tree import Command

TESTS: Final = Path(__file__).parents[2]
MARK: Final = re.compile(r"mark\.effect_of\(\s*((?:\"[^\"]*\",?\s*)+)\)")
EVERYWHERE: Final = "svc"  # as a mark names what many commands take
# Of a verb that each noun has alike one is enough.
NOUNS_OWN: Final = re.compile(r"^[a-z-]+(?= retrieve$)")
# What no test shows yet, at a command line or in a room. This may only shrink.
UNSHOWN: Final = {
    "batch": "--blank-means-all --concurrency --raw-csv --strict-order",
    "events listen": "--ack --adopt --allow-remote-forward --concurrency --events --exec --header --insecure-target --max-body --name --ordered --original-signature --retry --signature",
    "events receive": "--endpoint-secret-stdin --events --port --print --public-url --ready-file --tunnel",
    "events replay": "--allow-remote-forward --forward-timeout",
    "events sign": "--endpoint --secret-stdin",
    "events tail": "--events --port --print --public-url --tunnel --until",
    "keys add": "--no-check --stdin",
    "sandbox emails": "--limit --starting-after",
    "sandbox fault add": "--api-key --order",
    "sandbox logs": "--follow",
    "sandbox start": "--certificate --private-key",
}
# A no to an option whose yes could not be taken back otherwise. Typer makes one of every flag that
# does not forbid it.
NEGATIVES: Final = {"--test"}
# What a command needs besides, for one of its options to be given.
BESIDE: Final = {"--bank-code": ("--account-number",), "--account-number": ("--bank-code",)}
INSTEAD: Final = {"payouts create": ("--iban",)}


@cache
def commands() -> list[Command]:
    return [command for command in command_tree().root.walk() if command.path]


def described(command: Command) -> set[str]:
    """The options that come of the description of the API: the tests below hold them."""
    noun = next((noun for noun in service.nouns() if noun.word == command.path[0]), None)
    rows = {row.name for row in options_of(command.name.replace(" ", "."))}
    if noun is not None and command.path[1:] == ("list",):
        rows |= {"--starting-after", *(f"--{field.name}" for field in noun.list_given("list"))}
    return rows


def marked() -> set[tuple[str, str]]:
    """Each command with an option of which a test says that it shows the effect."""
    found = set()
    for path in TESTS.rglob("test_*.py"):
        for mark in MARK.findall(path.read_text(encoding="utf-8")):
            command, *options = re.findall(r'"([^"]*)"', mark)
            found |= {(command, option) for option in options}
    return found


def test_each_option_has_a_test_of_its_effect() -> None:
    """By the marker `effect_of`, after whose command its options are named; `svc` has the shared."""
    tree = command_tree()
    own = {
        (NOUNS_OWN.sub("NOUN", command.name), option.names[0])
        for command in commands()
        for option in command.options
        if option.names[0] not in described(command)
    }
    shared = {(EVERYWHERE, option.names[0]) for group in tree.shared.values() for option in group}
    unshown = {(name, option) for name, options in UNSHOWN.items() for option in options.split()}
    assert marked() | unshown == own | shared
    assert not marked() & unshown


def test_each_negation_is_meant() -> None:
    """A flag has no other unless somebody wants it."""
    tree = command_tree()
    shown = [*tree.root.options, *(option for group in tree.shared.values() for option in group)]
    shown += [option for command in commands() for option in command.options]
    assert {name for option in shown for name in option.negatives} == NEGATIVES


LISTS: Final = [one for one in commands() if one.path[1:] == ("list",)]
KINDS: Final = ("secret", "publishable")
ALL: Final = ("--events", "order.paid,payment.captured")
WRITING: Final = [
    one for one in commands() if one not in LISTS and options_of(one.name.replace(" ", "."))
]
READING: Final = [one for one in LISTS if described(one)]
SAMPLES: Final = {
    "currency": "USD",
    "country": "FR",
    "amount": "7",
    "free": "a=b",
    "object": "tracking_number=1Z999",
}


def sent(svc: Svc, *argv: str) -> Any:
    """What a command would send."""
    return svc.ok(*argv, "--dry-run", "-o", "json")


def stands_in(body: Any, path: tuple[str, ...]) -> bool:
    """Whether a body has a field, as JSON or as a form."""
    first, *inside = path
    if isinstance(body, str):
        name = first + "".join(f"[{each}]" for each in inside)
        return any(key.startswith(name) for key, value in parse_qsl(body) if value)
    for name in path:
        body = body.get(name) if isinstance(body, dict) else None
    return body not in (None, [], {}, "")


@pytest.mark.parametrize("command", WRITING, ids=lambda command: command.name)
def test_the_option_of_a_field_sets_it(svc: Svc, sandbox: Sandbox, command: Command) -> None:
    """One after the other, beside what the request needs: its value stands in the body."""
    rows = {row.name: row for row in options_of(command.name.replace(" ", "."))}
    identifier = [f"{prefix_of(command)}{'a' * 24}"] if command.arguments else []
    for name, row in rows.items():
        needed = [*NEEDS.get(command.name, ()), *BESIDE.get(name, INSTEAD.get(command.name, ()))]
        others = [word for one in needed if one != name for word in written(rows[one])]
        told = sent(svc, *command.path, *identifier, *others, *written(row))
        assert stands_in(told["body"], row.path), name
        if others and name not in (*needed, *BESIDE):
            told = sent(svc, *command.path, *identifier, *others)
            assert not stands_in(told["body"], row.path), name


def prefix_of(command: Command) -> str:
    """What the ids of a command's objects begin with."""
    return next(noun.prefix for noun in service.nouns() if noun.word == command.path[0])


def written(row: RequestOption) -> list[str]:
    """An option as it is typed, with the example of its field."""
    example = example_of(row) or SAMPLES.get(row.field.kind.type, "0123456789")
    return [row.name, *([example] if row.kind != "flag" else [])]


@pytest.mark.parametrize("command", READING, ids=lambda command: command.name)
def test_the_filter_of_a_list_is_sent(svc: Svc, sandbox: Sandbox, command: Command) -> None:
    for name in sorted(described(command) - {"--starting-after"}):
        values = next(each.values for each in command.options if each.names[0] == name)
        value = f"{values.ids[0]}{'a' * 24}" if values.ids else values.words[0][0]
        told = sent(svc, *command.path, name, value)
        assert f"{name[2:]}={value}" in told["url"], name


@pytest.mark.effect_of("svc", "--created-gt", "--created-gte", "--created-lt", "--created-lte")
@pytest.mark.effect_of("svc", "--limit", "--starting-after", "--data")
def test_options_of_many_commands_are_sent(svc: Svc, sandbox: Sandbox) -> None:
    """What lists and writes have in common, each at its place in the request."""
    for name, value, shown in (
        ("--created-gt", "2026-01-02T03:04:05Z", "created[gt]="),
        ("--created-gte", "2026-01-02T03:04:05Z", "created[gte]="),
        ("--created-lt", "2026-01-02T03:04:05Z", "created[lt]="),
        ("--created-lte", "2026-01-02T03:04:05Z", "created[lte]="),
        ("--limit", "7", "limit=7"),
        ("--starting-after", "ord_" + "a" * 24, f"starting_after=ord_{'a' * 24}"),
    ):
        assert shown in unquote(sent(svc, "orders", "list", name, value)["url"])
    body = sent(svc, "post", "/v1/orders", "-d", "shipping[country]=DE", "-d", "amount:=5")["body"]
    assert body == {"shipping": {"country": "DE"}, "amount": 5}


HOSTS = ("--host", "a.example", "--host", "b.example", "--host", "c.example")


@pytest.mark.parametrize(
    ("options", "shown"),
    [
        (("--node", "2"), "# Server 2 of 3"),
        (("--name", "other"), 'server_name: "other-1"'),
        (("--events-per-minute", "1000"), "max_file_store: 20GB"),
        (("--max-file-store", "20GiB"), "max_file_store: 20G"),
        (HOSTS, "a.example:6222"),
        (("--systemd",), "[Service]"),
        (("--trial",), 'listen: "127.0.0.1:4222"'),
        (("--single",), "# The one server of the log shop"),
        (("--environment",), "LOG_KEY="),
    ],
    ids=lambda one: one[0] if isinstance(one, tuple) else "",
)
@pytest.mark.effect_of("events log template", "--node", "--name", "--events-per-minute", "--host")
@pytest.mark.effect_of("events log template", "--max-file-store", "--systemd", "--trial")
@pytest.mark.effect_of("events log template", "--single", "--environment")
def test_a_template_is_written_for_what_is_asked(
    svc: Svc, options: tuple[str, ...], shown: str
) -> None:
    """A word of it that stands there with the option alone."""
    plain = ("events", "log", "template", "--name", "shop")
    assert shown not in svc(*plain).out
    argv = plain[:3] + options if options[0] == "--name" else plain + options
    done = svc(*argv)
    assert (done.code, shown in done.out) == (0, True), done.out + done.err


@pytest.mark.effect_of("sandbox trigger", "--data")
@pytest.mark.effect_of("sandbox events", "--starting-after")
@pytest.mark.effect_of("sandbox deliveries", "--endpoint", "--starting-after")
@pytest.mark.effect_of("sandbox resend", "--endpoint")
@pytest.mark.effect_of("sandbox requests", "--since", "--until")
def test_what_a_sandbox_shows_is_chosen(svc: Svc, sandbox: Sandbox) -> None:
    """Of two endpoints, two events and some requests: those that are asked for."""
    one, other = (
        svc.ok("webhook-endpoints", "create", "--url", f"http://127.0.0.1:{port}/", *ALL)["id"]
        for port in (1, 2)
    )
    created = svc.ok("sandbox", "trigger", "order.paid", "-d", "amount=777")["created"]
    [order] = [each["id"] for each in created if each["object"] == "order"]
    assert svc.ok("orders", "retrieve", order)["amount"] == 777
    events = svc.ok("sandbox", "events")["data"]
    assert len(events) > 1
    after = svc.ok("sandbox", "events", "--starting-after", events[0]["id"])["data"]
    assert [each["id"] for each in after] == [each["id"] for each in events[1:]]

    def deliveries(*more: str) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = svc.ok("sandbox", "deliveries", *more)["data"]
        return found

    before = deliveries("--endpoint", one)
    assert {each["endpoint"] for each in before} == {one}
    both = deliveries()
    assert {each["endpoint"] for each in both} == {one, other}
    assert deliveries("--starting-after", both[0]["id"])[0]["id"] == both[1]["id"]
    svc.ok("sandbox", "resend", events[0]["id"], "--endpoint", one)
    assert len(deliveries("--endpoint", other)) == len(both) - len(before)
    assert len(deliveries("--endpoint", one)) == len(before) + 1
    assert svc.ok("sandbox", "requests")["data"]
    assert svc.ok("sandbox", "requests", "--since", "2099-01-01T00:00:00Z")["data"] == []
    assert svc.ok("sandbox", "requests", "--until", "2020-01-01T00:00:00Z")["data"] == []


@pytest.mark.effect_of("sandbox customs", "--charged")
@pytest.mark.effect_of("sandbox keys create", "--type")
@pytest.mark.effect_of("sandbox requests", "--limit", "--body")
@pytest.mark.effect_of("svc", "--output", "--fields", "--query")
def test_what_is_made_and_shown_of_one_order(svc: Svc, sandbox: Sandbox) -> None:
    svc.ok("sandbox", "trigger", "order.paid")
    order = svc.ok("orders", "list", "--query", "data[0].id")
    charged = svc.ok("sandbox", "customs", order, "--charged", "1000")
    assert charged["customs"]["charged"] == 1000
    kinds = [svc.ok("sandbox", "keys", "create", "--type", kind)["type"] for kind in KINDS]
    assert kinds == [*KINDS]
    assert len(svc.ok("sandbox", "requests", "--limit", "1")["data"]) == 1
    assert svc.ok("sandbox", "requests", "--body", "in no body")["data"] == []
    shown = svc("orders", "list", "-o", "csv", "--fields", "id,amount").out
    assert shown.splitlines() == ["id,amount", f"{order},12900"]


@pytest.mark.effect_of(
    "svc", "--color", "--quiet", "--verbose", "--api-version", "--proxy", "--ca-bundle", "--profile"
)
def test_global_options_do_what_they_say(svc: Svc, sandbox: Sandbox) -> None:
    plain, human = svc("orders", "list"), ("whoami", "-o", "human")
    assert "\x1b[" not in svc(*human).out
    assert "\x1b[" in svc(*human, "--color", "always").out
    assert plain.err == ""
    assert svc("orders", "list", "--verbose").err.startswith("GET /v1/orders  attempt 1  200")
    made = svc("sandbox", "keys", "create")
    assert made.err.startswith("Use it: ")
    assert svc("sandbox", "keys", "create", "--quiet").err == ""
    version = sent(svc, "orders", "list", "--api-version", "2026-03-01")["headers"]["Svc-Version"]
    assert version == "2026-03-01"
    away = ("orders", "list", "--base-url", "https://api.example.com", "--max-time", "0.3")
    assert "127.0.0.1:1" in svc(*away, "--proxy", "http://127.0.0.1:1").error["message"]
    assert "/nowhere" in svc(*away, "--ca-bundle", "/nowhere").error["message"]
    svc.ok("profiles", "create", "other", "--base-url", "https://other.example")
    plain_env = {"SVC_BASE_URL": ""}
    told = svc("orders", "list", "--profile", "other", "--dry-run", env=plain_env)
    assert told.json["url"].startswith("https://other.example/")


@pytest.mark.effect_of("events listen", "--endpoint-secret-stdin")
def test_a_listener_takes_the_secret_of_an_endpoint_that_exists(svc: Svc, sandbox: Sandbox) -> None:
    """From standard input; nothing is registered."""
    secret = "whsec_test_4fQzN7cPq2LrTxVb9KdYhWm3"
    argv = ("events", "listen", "--endpoint-secret-stdin", "--print-secret")
    assert svc(*argv, stdin=f"{secret}\n").out == f"{secret}\n"
    assert svc.ok("sandbox", "endpoints", "list")["data"] == []


@pytest.mark.effect_of("events listen", "--forward-timeout", "--print", "--port")
def test_what_a_listener_is_told_holds(
    listen: Listen, svc: Svc, sandbox: Sandbox, tmp_path: Path
) -> None:
    """A target that is silent is given up after the time that is said, at the port that is."""
    port = free_port()
    with TargetServer(lambda _: None) as target:
        argv = ("--forward-to", str(target.port), "--forward-timeout", "0.5", "--retry", "off")
        with listen(tmp_path, *argv, "--port", str(port), "--print", "none") as running:
            assert running.records[0]["url"].startswith(f"http://127.0.0.1:{port}/")
            svc.ok("sandbox", "trigger", "order.paid")
            [one, *_] = running.wait("forward")
            assert (one["status"], one["error"]) == (None, "no answer in time")
            assert 450 < one["milliseconds"] < 7500  # 8000 untold
            assert not [each for each in running.records if each["record"] == "event"]


@pytest.mark.effect_of("sandbox start", "--strict-https")
@pytest.mark.effect_of("sandbox env", "--port")
@pytest.mark.effect_of("sandbox stop", "--all")
def test_sandboxes_are_started_named_and_stopped_as_asked(svc: Svc) -> None:
    """A strict one answers plain HTTP with 401; of two each has its own address; both end."""
    start = ("sandbox", "start", "--detach", "--port", "0", "--db", ":memory:")
    strict, other = svc.ok(*start, "--strict-https"), svc.ok(*start)
    reached = {"SVC_API_KEY": "sk_test_sandbox"}
    assert svc("orders", "list", "--base-url", strict["url"], env=reached).code == 4
    assert svc("orders", "list", "--base-url", other["url"], env=reached).code == 0
    for one in (strict, other):
        assert one["url"] in svc("sandbox", "env", "--port", str(one["port"])).out
    ended = svc.ok("sandbox", "stop", "--all")
    assert sorted(one["port"] for one in ended) == sorted((strict["port"], other["port"]))
