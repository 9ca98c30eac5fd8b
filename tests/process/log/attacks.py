"""What strangers try at a team's log, with a member's password or with none; nothing may come of it."""

import json
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Final

from process.log.day import STREAM, Day
from support.listening import event
from support.serving import free_ports
from support.team.log import inbound, wait_for
from support.team.servers import LogNode
from svc.listen.log.address import LogAddress
from svc.listen.log.messages import headers_of
from svc.signature import header_value

INTO: Final = "svc.shop.test.order.paid"  # where only receivers may put something
FALSE: Final = 10**7  # events of this number and above were never sent by the service
APIS: Final = ("LOG.API.", "$JS.API.")
ACK: Final = f"$JS.ACK.{STREAM}.g_ci.1.1.1.1.0"
_PAGE: Final = {"seq": 1, "batch": 100, "next_by_subj": "svc.shop.test.>"}
_PUSHED: Final = {"name": "c_anna", "deliver_subject": INTO}
_DURABLE: Final = {"durable_name": "x", "deliver_subject": INTO, "ack_policy": "none"}


@dataclass(frozen=True)
class Request:
    """One request of a laptop's user: what is asked, and where the answer is to go."""

    name: str
    verb: str
    body: Any = None
    reply: str = ""


REQUESTS: Final = (
    Request("an answer as an event: the stream", f"STREAM.INFO.{STREAM}", {}, INTO),
    Request("an answer as an event: a page", f"DIRECT.GET.{STREAM}", _PAGE, INTO),
    Request("an answer as an event: the queues", f"CONSUMER.LIST.{STREAM}", {"offset": 0}, INTO),
    Request("an answer as an event: a queue", f"CONSUMER.INFO.{STREAM}.g_ci", {}, INTO),
    Request("an answer as an event: its next", f"CONSUMER.MSG.NEXT.{STREAM}.g_ci", {"batch": 9}, INTO),
    Request("an answer as a request", f"STREAM.INFO.{STREAM}", {}, f"$JS.API.STREAM.DELETE.{STREAM}"),
    Request("an answer as an acknowledgement", f"DIRECT.GET.{STREAM}", _PAGE, ACK),
    Request("an answer as a laptop's report", f"STREAM.INFO.{STREAM}", {}, "reader.shop.test.ben"),
    Request("a reader that pushes into the log", f"CONSUMER.CREATE.{STREAM}.c_anna",
            {"stream_name": STREAM, "config": _PUSHED}),
    Request("a lasting reader that pushes", f"CONSUMER.DURABLE.CREATE.{STREAM}.x",
            {"stream_name": STREAM, "config": _DURABLE}),
    Request("everything is purged", f"STREAM.PURGE.{STREAM}", {}),
    Request("the stream is deleted", f"STREAM.DELETE.{STREAM}", {}),
    Request("an event is deleted", f"STREAM.MSG.DELETE.{STREAM}", {"seq": 1}),
    Request("the stream is changed", f"STREAM.UPDATE.{STREAM}", {"name": STREAM, "max_msgs": 1}),
    Request("a stream of one's own takes the events", "STREAM.CREATE.mine",
            {"name": "mine", "subjects": ["svc.>"]}),
    Request("the queue is deleted", f"CONSUMER.DELETE.{STREAM}.g_ci", {}),
    Request("the leader is sent away", f"STREAM.LEADER.STEPDOWN.{STREAM}", {}),
)  # fmt: skip
PUBLISHED: Final = (
    ("an event", INTO, event(FALSE)),
    ("an announcement", "notice.shop.test.order.paid", event(FALSE)),
    ("another laptop's report", "reader.shop.test.ben", b'{"seq": 999999, "time": 1}'),
    ("an acknowledgement of a job", ACK, b"+ACK"),
    ("a refusal of a job", ACK, b"+TERM no"),
)
HEARD: Final = (">", "_INBOX_ben.>", "_INBOX_ci.>", "svc.>", "$JS.>", "$SYS.>", "reader.>")


def requests_of_a_laptop(day: Day) -> list[str]:
    """Gives what was let in: who asks so with a laptop's password is refused, or changes nothing."""
    state = _state(day)

    async def act(client: Any) -> None:
        for one in REQUESTS:
            for api in APIS:
                await client.publish(
                    f"{api}{one.verb}", json.dumps(one.body).encode(), reply=one.reply
                )
        for _, subject, body in PUBLISHED:
            await client.publish(subject, body)

    said = day.client(act, "anna")
    assert len([one for one in said if "permissions violation" in one.lower()]) >= len(PUBLISHED)
    after = _state(day)
    return [
        f"{name}: {state[name]} became {after[name]}"
        for name in state
        if after[name] != state[name]
    ]


def _state(day: Day) -> dict[str, Any]:
    """What of a log does not change by events: its form, its readers, its queues, its reports."""
    info = day.ask(f"STREAM.INFO.{STREAM}")
    readers = {
        one["name"] for one in day.ask(f"CONSUMER.LIST.{STREAM}", {"offset": 0})["consumers"]
    }
    streams = set(day.ask("STREAM.NAMES", {"offset": 0})["streams"])
    return {
        "config": info["config"],
        "deleted": info["state"].get("num_deleted", 0),
        "first": max(info["state"]["first_seq"], 1),  # 0 while it is empty
        "readers": readers,
        "streams": streams,
    }


def what_others_are_told(day: Day) -> list[str]:
    """A laptop listens to everything."""
    got: list[str] = []

    async def act(client: Any) -> None:
        async def heard(message: Any) -> None:
            got.append(message.subject)

        for subject in HEARD:
            await client.subscribe(subject, cb=heard)
        await client.flush()
        day.log("ben", "status")

    said = day.client(act, "anna")
    assert len([one for one in said if "subscription" in one.lower()]) == len(HEARD)
    return got


def forged_with_a_receivers_password(day: Day) -> list[str]:
    """Without the key: no proof, another key's, one that was made for something else."""
    address = LogAddress.parse(day.url, "--to")
    other = headers_of(
        inbound(FALSE + 1).delivery, address, "test", "logkey_" + "z" * 43, again=False
    )
    true = dict(
        headers_of(inbound(FALSE + 2).delivery, address, "test", "logkey_" + "k" * 43, again=False)
    )
    messages: list[tuple[int, dict[str, str]]] = [
        (FALSE + 3, {"Nats-Msg-Id": f"evt_{FALSE + 3}"}),
        (FALSE + 1, dict(other)),
        (FALSE + 4, {**true, "Nats-Msg-Id": f"evt_{FALSE + 4}"}),
        (FALSE + 5, {**true, "Svc-Received-At": "inf", "Nats-Msg-Id": f"evt_{FALSE + 5}"}),
        (FALSE + 6, {"Nats-Msg-Id": f"evt_{FALSE + 6}", "Status": "404"}),
    ]
    before = [(one, len(one.told("rejected"))) for one in (day.anna, day.ben)]
    for number, headers in messages:
        with day.connect("receiver") as connection:
            connection.run(connection.request(INTO, event(number), headers))
    wait_for(lambda: all(len(one.told("rejected")) >= was + 5 for one, was in before), 30)
    day.forged |= {f"evt_{number}" for number, _ in messages}
    day.flows()
    ids = {one for target in day.targets.values() for one in target.server.ids}
    return sorted(ids & day.forged)


def without_a_password(day: Day) -> list[str]:
    """No password, a wrong one, another user's."""
    import asyncio

    from nats.aio.client import Client

    let_in: list[str] = []

    async def refused(_: Exception) -> None:
        """It is to be."""

    async def knock(**who: Any) -> None:
        client = Client()
        with suppress(Exception):
            await client.connect(
                f"tls://localhost:{day.running.nodes[0].port}",
                tls=day.context,
                allow_reconnect=False,
                error_cb=refused,
                **who,
            )
            let_in.append(str(who))
        with suppress(Exception):
            await client.close()

    for who in ({}, {"user": "anna", "password": "wrong"}, {"user": "route", "password": ""}):
        asyncio.run(knock(**who))
    return let_in


def a_server_that_is_none_of_them(day: Day) -> list[str]:
    """With a certificate of the authority, with none, and with the cluster's password."""
    first = day.running.nodes[0]
    listens = first.config.partition("cluster {")[2].partition('listen: "')[2].partition('"')[0]
    names = {node.name for node in day.running.nodes}
    certificate = day.authority.issue("other.example")
    tls = f'tls {{ cert_file: "{certificate}", key_file: "{certificate}", '
    tls += f'ca_file: "{day.authority.file}" }}'
    ways = (("", ""), ("", tls), (day.routes_password, tls))
    strangers = []
    for number, (password, more) in enumerate(ways):
        port, monitor, own = free_ports(3)
        user = f"route:{password}@" if password else ""
        text = f"""server_name: stranger{number}
listen: "127.0.0.1:{port}"
http: "127.0.0.1:{monitor}"
cluster {{ name: shop, listen: "127.0.0.1:{own}", routes: ["nats://{user}{listens}"]
{more} }}
"""
        folder = day.folder / f"stranger-{number}"
        strangers.append(LogNode(folder, f"stranger{number}", port, monitor, text).start())
    try:
        wait_for(lambda: "failed to verify" in _said(first) or "uthentication" in _said(first), 30)
        day.flows()
        return [name for one in (first, *strangers) for name in _routes(one)
                if one is not first or name not in names]  # fmt: skip
    finally:
        for one in strangers:
            one.kill()


def _said(node: LogNode) -> str:
    return (node.folder / "out").read_text(errors="replace")


def _routes(node: LogNode) -> set[str]:
    found = node.monitored("routez").get("routes") or []
    return {str(one.get("remote_name")) for one in found}


def a_request_to_the_receivers_door(day: Day) -> list[str]:
    """Without a signature, with another secret's, for another path."""
    import http.client
    import time

    port, path = day.receiver.door
    signed = header_value(event(FALSE + 9), ["whsec_of_somebody_else"], int(time.time()))
    let_in = []
    for where, head in (
        (path, {}),
        (path, {"Svc-Signature": signed}),
        ("/", {"Svc-Signature": signed}),
    ):
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
        connection.request("POST", where, event(FALSE + 9), head)
        status = connection.getresponse().status
        connection.close()
        if status == 200:
            let_in.append(f"{where} {head}")
    return let_in


Attack = Callable[[Day], list[str]]
ATTACKS: Final[tuple[Attack, ...]] = (
    requests_of_a_laptop,
    what_others_are_told,
    forged_with_a_receivers_password,
    without_a_password,
    a_server_that_is_none_of_them,
    a_request_to_the_receivers_door,
)
# How many ways in each of them tries.
TRIED: Final[dict[Attack, int]] = {
    requests_of_a_laptop: len(REQUESTS) + len(PUBLISHED),
    what_others_are_told: len(HEARD),
    forged_with_a_receivers_password: 5,
    without_a_password: 3,
    a_server_that_is_none_of_them: 3,
    a_request_to_the_receivers_door: 3,
}
