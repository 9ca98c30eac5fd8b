"""Each refusal of a team's log, with its words, its code and what to do.

They lie in `refusals.txt`; after a change that is meant, `GOLDEN=write` writes it anew.
"""

import asyncio
import base64
import ssl
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, cast

import nats.errors
import pytest

from support.suite.golden import hold_golden
from support.team.log import KEY, inbound
from svc.errors import LocalError, SvcError
from svc.listen.inbox.interfaces import Batch
from svc.listen.log import checks, connection, errors, failed, group, inboxes
from svc.listen.log.address import LogAddress
from svc.listen.log.credentials import Credentials, from_environment, keys_of
from svc.listen.log.errors import LogDown, LogRefusal
from svc.listen.log.messages import Trust
from svc.listen.log.proof import fingerprint
from svc.listen.log.users import Users
from unit.listen.log.fake_log import ADDRESS, STREAM, FakeLog, message

OTHER = "logkey_" + "z" * 43
HEAD = '# svc-log: {"log": "shop", "mode": "test"}\n'


def parsed_addresses() -> Iterator[Callable[[], Any]]:
    for text in (
        *(
            "nats://anna:pw@127.0.0.1/shop",
            "http://127.0.0.1/shop",
            "nats://127.0.0.1",
            "nats:///shop",
        ),
        *(
            "nats://127.0.0.1/",
            "nats://127.0.0.1/a.b",
            "nats://127.0.0.1/-a",
            f"nats://a/{'a' * 33}",
        ),
        *(
            "nats://log.example.com/shop",
            "nats://127.0.0.1,log.example.com/shop",
            "nats+tls://a b/shop",
        ),
        *(
            "nats+tls://a:123456/shop",
            "nats+tls://a,,b/shop",
            "nats+tls://::1/shop",
            "nats+tls://a:/x",
        ),
    ):
        yield partial(LogAddress.parse, text, "--to")


def read_credentials() -> Iterator[Callable[[], Any]]:
    for text in ("anna", ":pw", "anna:", "anna:p\x07w", "anna:pw\nmore", f"anna\n{KEY}"):
        yield partial(from_environment, {"SVC_LOG_CREDENTIALS": text})
    for seed in ("SU", base64.b32encode(b"a" * 35).decode(), "1" * 56):
        text = f"{jwt('{}')}\n--BEGIN USER NKEY SEED--\n{seed}\n--END USER NKEY SEED--"
        yield partial(Credentials.parse, text, "Standard input")
    for held in (None, Credentials("anna", ""), Credentials("anna", "", (OTHER,))):
        yield partial(keys_of, held, STREAM, fingerprint(KEY))


def jwt(claims: str) -> str:
    middle = base64.urlsafe_b64encode(claims.encode()).decode().rstrip("=")
    return f"--BEGIN NATS USER JWT--\na.{middle}.c\n--END NATS USER JWT--"


def changed_users() -> Iterator[Callable[[], Any]]:
    anna = '# svc-user: {"name": "anna", "role": "%s"}\n'
    for text in ("", HEAD * 2, "# svc-log: {}", "# svc-log: x", HEAD.replace("test", "other")):
        yield partial(Users.parse, text, "users.conf")
    for user in (
        anna % "guest",
        '# svc-user: {"name": "anna"}',
        '# svc-user: {"a": 1}',
        "# svc-user: 1",
    ):
        yield partial(Users.parse, HEAD + user, "users.conf")
    users = Users.parse(HEAD + anna % "laptop", "users.conf")
    for name in ("", "a.b", "-a", "a" * 33, "LOG", "anna"):
        yield partial(users.add, name, "laptop", "")
    yield lambda: users.rotate("ben")
    yield lambda: users.remove("ben")
    yield lambda: Users("shop", "test").remove("ben")


def asked_logs() -> Iterator[Callable[[], Any]]:
    for body in (b"", b"[1]", b'{"error": {}}', b'{"error": {"code": 404, "description": "gone"}}'):
        yield partial(connection.decode, connection.Message("", "", {}, body))
    for told in ("live", "https://b.example"):
        metadata = {"svc-origin": "https://a.example", "svc-mode": "test"}
        metadata |= {"svc-mode": told} if told == "live" else {"svc-origin": told}
        info = {"config": {"metadata": metadata}}
        yield partial(checks.belongs, info, "https://a.example", "test")
    log = cast("Any", FakeLog({1: message(1, Svc_Receiver_Proof="0")}))
    one = failed.SetAside(4, "evt_1", "order.paid", "ci", "no", 1, "", 1)
    trust = Trust(STREAM, (KEY,))
    yield lambda: asyncio.run(failed.find_failed(log, "test", "evt_9"))
    yield lambda: asyncio.run(failed.message_of(log, "test", failed.SetAside(*one_of(one, seq=2))))
    yield lambda: asyncio.run(failed.retry(log, "test", trust, one))
    log.told[f"STREAM.MSG.DELETE.{STREAM}_failed"] = {}
    yield lambda: asyncio.run(failed.drop(log, "test", one))
    jobs = group.ConsumerGroup("ci", "test", 1, trust)
    log.told[f"CONSUMER.CREATE.{STREAM}.g_ci"] = LogRefusal(500, 1, "no room")
    yield lambda: asyncio.run(group.ensure(log, jobs, {}))


def one_of(entry: failed.SetAside, *, seq: int) -> list[Any]:
    return [*[*entry.as_data().values()][1:-1], seq]


def stored_events() -> Iterator[Callable[[], Any]]:
    log = cast("Any", FakeLog())
    inbox = inboxes.LogInbox(log, "test", KEY)
    subject = ADDRESS.subject("test", "order.paid")
    for refusal in (
        *(LogRefusal(503, number, "exceeded") for number in (10077, 10023, 10047)),
        LogRefusal(400, 10060, "wrong stream"),
    ):

        def refused(refusal: LogRefusal = refusal) -> None:
            log.told[subject] = refusal
            inboxes.backfill(iter([inbound(n).delivery for n in (1, 2)]), {"evt_1"}, inbox)

        yield refused
    log.client.max_payload = 100
    yield lambda: raised(inbox.store(Batch([inbound(1)]))[0])


def raised(found: object) -> None:
    if isinstance(found, LocalError):
        raise found


def told_by_the_library() -> Iterator[Callable[[], Any]]:
    untrusted = ssl.SSLCertVerificationError("self-signed")
    for error in (
        *(
            TimeoutError(),
            ConnectionRefusedError(),
            OSError("broken"),
            nats.errors.NoRespondersError(),
        ),
        *(nats.errors.ConnectionClosedError(), nats.errors.OutboundBufferLimitError(), untrusted),
        *(nats.errors.NoServersError(), nats.errors.Error("nats: odd."), nats.errors.Error("")),
    ):
        yield partial(worded, error)
        yield partial(raised_by, errors.build_unreachable(ADDRESS, error))
    yield partial(raised_by, errors.build_unreachable(ADDRESS, None))
    yield partial(raised_by, errors.build_unreachable(ADDRESS, LogDown("as it was")))
    for user, verb in (("anna", "publish"), (None, "subscription")):
        yield partial(raised_by, errors.build_right_missing(user, verb, "svc.a"))
    for user, said in (("anna", "User Authentication Expired"), (None, "no")):
        yield partial(raised_by, errors.credentials_refused(ADDRESS, user, said))
    yield partial(raised_by, errors.no_majority(ADDRESS))
    yield partial(raised_by, errors.no_stream(ADDRESS, STREAM))


def worded(error: BaseException) -> None:
    with errors.worded():
        raise error


def raised_by(error: Exception) -> None:
    raise error


def words_of(call: Callable[[], Any]) -> str:
    try:
        call()
    except SvcError as error:
        more = f"{error.code} {error.param} {error.message} | {error.hint}"
        return f"{type(error).__name__} {more}{' | may be tried again' * error.retryable}"
    return "none"


def test_each_refusal_of_a_log_is_told_as_agreed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda _: None)
    kinds = [
        *(parsed_addresses, read_credentials, changed_users, asked_logs, stored_events),
        told_by_the_library,
    ]
    told = [words_of(call) for kind in kinds for call in kind()]
    told.append(words_of(errors.check_installed))
    hold_golden(Path(__file__).with_name("refusals.txt"), "\n".join(told) + "\n")
