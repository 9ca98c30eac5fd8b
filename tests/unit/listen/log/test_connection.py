"""One connection to a log: by which name it asks, and what it makes of pages and answers."""

import asyncio
from collections.abc import Iterator, Mapping
from types import SimpleNamespace
from typing import Any

import pytest

from svc.errors import AuthError
from svc.listen.log import connection as module
from svc.listen.log.address import LogAddress
from svc.listen.log.client import LogClient, is_status
from svc.listen.log.connection import LogConnection, Message, decode, read_page, read_stream
from svc.listen.log.errors import LogDown, LogMissing, LogRefusal, NoResponder
from unit.listen.log.fake_log import ADDRESS, STREAM, FakeLog, message


class AnsweredClient:
    """Stands in for what a client sends; `answers` by the first words of a subject."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.asked: list[str] = []
        self.payloads: list[bytes] = []
        self.answers: dict[str, bytes | Exception] = {}
        monkeypatch.setattr(LogClient, "get_ready", self._get_ready)
        monkeypatch.setattr(LogClient, "ask", self._ask)

    async def _get_ready(self, _: float) -> None:
        """Is connected."""

    async def _ask(self, subject: str, payload: bytes, *_: Any) -> Any:
        api = subject.partition(".API.")[0]
        self.asked.append(api)
        self.payloads.append(payload)
        answer = self.answers[api]
        if isinstance(answer, Exception):
            raise answer
        return SimpleNamespace(subject="", reply="", headers=None, data=answer)


@pytest.fixture
def client(monkeypatch: pytest.MonkeyPatch) -> AnsweredClient:
    return AnsweredClient(monkeypatch)


@pytest.fixture
def connection(client: AnsweredClient) -> Iterator[LogConnection]:
    with LogConnection(ADDRESS, None) as made:
        yield made


ELSEWHERE = b'{"error": {"code": 503, "err_code": 10039, "description": "JetStream not enabled"}}'
GONE = b'{"error": {"code": 404, "err_code": 10059, "description": "stream not found"}}'
SILENT, NO_RIGHT = NoResponder("nobody"), AuthError("no right")


@pytest.mark.parametrize(
    ("member", "admin", "raised", "asked"),
    [
        (b"{}", b"{}", None, ["LOG", "LOG"]),
        (SILENT, b"{}", None, ["LOG", "$JS", "$JS"]),
        (NO_RIGHT, b"{}", None, ["LOG", "$JS", "$JS"]),
        (ELSEWHERE, b"{}", None, ["LOG", "$JS", "$JS"]),
        (GONE, b"{}", LogMissing, ["LOG", "LOG"]),
        (SILENT, GONE, LogMissing, ["LOG", "$JS", "$JS"]),
        (SILENT, SILENT, NoResponder, ["LOG", "$JS", "LOG", "$JS"]),
        (SILENT, NO_RIGHT, AuthError, ["LOG", "$JS", "LOG", "$JS"]),
        (NO_RIGHT, ELSEWHERE, AuthError, ["LOG", "$JS", "LOG", "$JS"]),
        (ELSEWHERE, ELSEWHERE, LogRefusal, ["LOG", "$JS", "LOG", "$JS"]),
    ],
)
def test_a_log_is_asked_by_the_name_that_answers(
    member: Any,
    admin: Any,
    raised: Any,
    asked: list[str],
    client: AnsweredClient,
    connection: LogConnection,
) -> None:
    """R128: a member's account has one name, the log's own another; a right that lacks says most."""
    client.answers = {"LOG": member, "$JS": admin}
    for _ in range(2):
        if raised is None:
            assert connection.run(connection.api("STREAM.INFO.shop", {"a": 1})) == {}
        else:
            with pytest.raises(raised) as caught:
                connection.run(connection.api("STREAM.INFO.shop", {"a": 1}))
            assert type(caught.value) is raised
    assert client.asked == asked
    assert {*client.payloads} == {b'{"a": 1}'}
    assert connection.is_apart is (asked == ["LOG", "LOG"])


def test_a_question_without_a_body_has_none(
    client: AnsweredClient, connection: LogConnection
) -> None:
    client.answers = {"LOG": b"{}"}
    connection.run(connection.api("STREAM.INFO.shop"))
    assert client.payloads == [b""]


def test_nobody_who_answers_a_page_is_told(
    monkeypatch: pytest.MonkeyPatch, connection: LogConnection
) -> None:
    async def gather(*_: Any, most: int) -> list[Any]:
        return [SimpleNamespace(subject="", reply="", headers={"Status": "503"}, data=b"")]

    monkeypatch.setattr(LogClient, "gather", gather)
    with pytest.raises(NoResponder, match="The log does not answer"):
        connection.run(connection.gather("DIRECT.GET.shop", {}, 1))


@pytest.mark.parametrize("hosts", ["a", "a,b,c"])
def test_every_server_that_answers_is_listed_with_its_version(
    hosts: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The one that is connected comes first; one that is away is left out."""
    waited: list[float] = []

    async def get_ready(self: LogClient, seconds: float) -> None:
        waited.append(seconds)
        if self._address.hosts[0][0] == "b":
            raise LogDown("away")

    def version(self: LogClient) -> str:
        return self._address.hosts[0][0]

    monkeypatch.setattr(LogClient, "get_ready", get_ready)
    monkeypatch.setattr(LogClient, "version", property(version))
    with LogConnection(LogAddress.parse(f"nats+tls://{hosts}/shop", "--to"), None) as connection:
        assert [one for one, _ in connection.list_servers()] == (
            ["a"] if hosts == "a" else [*"aac"]
        )
    assert waited == ([5.0] if hosts == "a" else [5.0, 2.0, 2.0, 2.0])


@pytest.mark.parametrize(
    ("body", "status", "number", "kind"),
    [
        (b"{", 500, 0, LogRefusal),
        (b"1", 500, 0, LogRefusal),
        (b'{"error": {}}', 500, 0, LogRefusal),
        (b'{"error": {"code": 503, "err_code": 10077}}', 503, 10077, LogRefusal),
        (b'{"error": {"code": 404, "err_code": 10014}}', 404, 10014, LogMissing),
    ],
)
def test_an_answer_that_is_an_error_is_raised(
    body: bytes, status: int, number: int, kind: type[LogRefusal]
) -> None:
    assert decode(Message("", "", {}, b'{"a": 1, "error": null}')) == {"a": 1, "error": None}
    with pytest.raises(LogRefusal) as caught:
        decode(Message("", "", {}, body))
    assert (caught.value.status, caught.value.number, type(caught.value)) == (status, number, kind)


@pytest.mark.parametrize(
    ("headers", "reply", "data", "is_it"),
    [
        ({"Status": "404"}, "", b"", True),
        ({"Status": "404"}, "", b"x", False),
        ({"Status": "404", "Nats-Sequence": "1"}, "", b"", False),
        ({"Status": "404"}, "$JS.ACK.shop.g_ci.1.1.1.0.0", b"", False),
        ({}, "", b"", False),
        (None, "", b"", False),
    ],
)
def test_what_is_stored_is_no_word_of_the_server(
    headers: Mapping[str, str] | None, reply: str, data: bytes, is_it: bool
) -> None:
    """Whoever publishes may write a `Status` into an event without a body."""
    told: Any = SimpleNamespace(subject="", reply=reply, headers=headers, data=data)
    assert is_status(told) is is_it


def test_a_stream_is_read_page_by_page() -> None:
    log: Any = FakeLog({number: message(number) for number in (2, 5, 6)})
    pages: list[Mapping[str, Any]] = []
    gather = log.gather

    async def noted(verb: str, asked: Mapping[str, Any], most: int) -> list[Message]:
        assert (asked["batch"], most) == (module.PAGE, module.PAGE + 1)
        assert 4 << 20 < asked["max_bytes"] <= 16 << 20  # more than an event, less than a memory
        pages.append(asked)
        given: list[Message] = await gather(verb, asked, most)
        return given

    async def read() -> list[tuple[int, str, bytes]]:
        found = read_stream(log, STREAM, {"seq": 1}, "svc.>")
        return [(one.seq, one.subject, one.message.body) async for one in found]

    log.gather = noted
    subject = ADDRESS.subject("test", "order.paid")
    assert asyncio.run(read()) == [(n, subject, message(n).body) for n in (2, 5, 6)]
    assert [(one["seq"], one["next_by_subj"]) for one in pages] == [(1, "svc.>"), (7, "svc.>")]


@pytest.mark.parametrize(
    ("numbers", "before", "end", "is_whole"),
    [
        ([], [], ("404", None), True),
        ([3, 4], [0, 3], ("204", "4"), True),
        ([3, 4], [0, 3], ("404", None), True),
        ([3, 4], [7, 3], ("204", "4"), True),  # the first of a page has another one before it
        ([3, 5], [0, 4], ("204", "5"), False),
        ([3, 4], [0, 3], ("204", "5"), False),
        ([3, 4], [0, 3], ("204", None), False),
        ([3, 4], [0, 3], ("408", "4"), False),
    ],
)
def test_a_page_of_which_a_message_was_lost_is_none(
    numbers: list[int], before: list[int], end: tuple[str, str | None], is_whole: bool
) -> None:
    """R50: each message names the one before it, and the end the last."""

    async def gather(*_: Any, **__: Any) -> list[Message]:
        page = [
            Message("", "", {"Nats-Sequence": f"{seq}", "Nats-Last-Sequence": f"{last}"}, b"")
            for seq, last in zip(numbers, before, strict=True)
        ]
        status, last = end
        return [*page, Message("", "", {"Nats-Last-Sequence": last} if last else {}, b"", status)]

    log: Any = SimpleNamespace(gather=gather)
    if is_whole:
        assert [one.seq for one in asyncio.run(read_page(log, STREAM, {"seq": 1}, ">"))] == numbers
    else:
        with pytest.raises(LogDown, match="a message was lost on the way"):
            asyncio.run(read_page(log, STREAM, {"seq": 1}, ">"))


@pytest.mark.parametrize(
    ("text", "servers", "written"),
    [
        ("nats://127.0.0.1/shop", "nats://127.0.0.1:4222", None),
        (
            "nats+tls://Log.example.com:4222/shop/",
            "tls://Log.example.com:4222",
            "nats+tls://Log.example.com/shop",
        ),
        ("nats+tls://a,b:4223/x_-9", "tls://a:4222 tls://b:4223", None),
        ("nats://[::1]:65535/shop", "nats://[::1]:65535", None),
        ("nats://[::1]/shop", "nats://[::1]:4222", None),
        (f"nats://localhost:1/{'a' * 32}", "nats://localhost:1", None),
    ],
)
def test_an_address_names_its_servers_and_is_written_as_short_as_it_can_be(
    text: str, servers: str, written: str | None
) -> None:
    """R127: stored credentials are bound to the names of the servers, whatever their letters."""
    found = LogAddress.parse(text, "--to")
    assert [one.lower() for one in found.servers] == servers.lower().split()
    assert str(found).lower() == (written or text).lower()
    scheme = "nats+tls" if found.tls else "nats"
    hosts = [one.partition("//")[2].lower() for one in found.servers]
    types = ("order.paid", "a", "a..b", "", ".", "order paid", "*", ">", ".a", "a.", "x" * 128)
    kept = {one for one in types if found.subject("test", one) == f"svc.{found.name}.test.{one}"}
    assert kept == {"order.paid", "a", "x" * 128}
    assert {found.subject("test", one) for one in {*types} - kept} == {f"svc.{found.name}.test._"}
    assert found.places == [f"{scheme}://{host}/{found.name}" for host in hosts]
