"""Marked secrets, through a whole team and its troubles: none is found where it does not belong."""

import base64
import shlex
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from support.listening import TargetServer
from support.team.log import connect, make_streams, wait_for
from support.team.members import EventSender, Member
from support.team.servers import Servers, servers
from svc.listen.log.streams import stream_info

pytestmark = pytest.mark.usefixtures("needed")
USERS = {name: f"{name}Marked7Canary" for name in ("receiver", "anna", "ci", "admin")}
ENDPOINT = "whsec_EndpointMarkedCanary9zzN7cPq2"


def authorization() -> str:
    users = ", ".join(f'{{ user: {name}, password: "{word}" }}' for name, word in USERS.items())
    return f"authorization {{ users = [ {users} ] }}\n"


def stored(running: Servers) -> Iterator[bytes]:
    """Every message of the log, as a server gives it, and the header lines in it."""
    with connect(running, f"admin:{USERS['admin']}") as connection:
        stream = connection.address.stream("test")
        last = connection.run(stream_info(connection, "test"))["state"]["last_seq"]
        for seq in range(1, last + 1):
            asked = connection.request(f"$JS.API.DIRECT.GET.{stream}", b'{"seq":%d}' % seq)
            message = connection.run(asked)
            yield repr(sorted(message.headers.items())).encode() + message.body
            yield base64.b64decode(message.headers["Svc-Lines"])


def files(folder: Path) -> Iterator[tuple[str, bytes]]:
    for one in sorted(folder.rglob("*")):
        if one.is_file() and one.name not in ("nats.conf", "own-secret"):
            yield str(one.relative_to(folder)), one.read_bytes()


def spelled(secret: str) -> list[bytes]:
    """A secret as it is and as others write it; of base64 what does not depend on its place."""
    plain = secret.encode()
    shifted = [base64.b64encode(b"x" * n + plain)[4:-4] for n in range(3)]
    return [plain, *shifted]


@pytest.mark.slow(seconds=20)
@pytest.mark.limit(120)
def test_no_secret_is_in_a_message_a_log_or_a_state(tmp_path: Path) -> None:  # noqa: PLR0915
    """R40: not in what is stored, printed, kept or handed on, whatever goes wrong meanwhile."""
    own = tmp_path / "own-secret"
    seen = tmp_path / "environment"
    exec_ = (
        f'printf %s "$SVC_WEBHOOK_SECRET" > {shlex.quote(str(own))}; '
        f"env -u SVC_WEBHOOK_SECRET > {shlex.quote(str(seen))}; sleep 60"
    )
    with ExitStack() as open_, servers(tmp_path / "log", more=authorization()) as running:
        make_streams(running, f"admin:{USERS['admin']}")
        target = open_.enter_context(TargetServer())

        def member(user: str, *argv: str) -> Member:
            made = Member(tmp_path / user, ("events", *argv), secret=ENDPOINT)
            made.credentials = f"{user}:{USERS[user]}"
            made.start()
            open_.callback(made.kill)
            wait_for(lambda: bool(made.ready))
            return made

        url, to = running.url(), ("--forward-to", str(target.port))
        receiver = member("receiver", "receive", "--to", url, "--tunnel", "none")
        everybody = [
            receiver,
            member("anna", "listen", "--from", url, *to, "--exec", exec_),
            member("ci", "listen", "--from", url, "--group", "ci", *to),
        ]
        lines = [
            Path(f"/proc/{one.process.pid}/cmdline").read_bytes()
            for one in everybody
            if one.process
        ]
        sender = EventSender(lambda: receiver.door, secret=ENDPOINT)
        for number in range(3):
            sender.deliver(number)
        wait_for(lambda: len(target.received) >= 6 and seen.exists() and own.exists())
        node = running.nodes[0]
        node.reload(node.config.replace("Marked7Canary", "Wrong"))
        wait_for(lambda: all(one.told("log") for one in everybody[1:]))
        assert sender.try_once(3) == 503
        node.reload(node.config)
        sender.deliver(3)
        wait_for(lambda: len(target.received) >= 8)
        messages = list(stored(running))
        for one in everybody:
            one.end()
    kept = dict(files(tmp_path))
    assert any(b'"evt_1"' in one for one in messages)  # else nothing was looked at
    assert any(b"evt_1" in data for name, data in kept.items() if name.startswith("log/"))
    assert any(b"evt_1" in data for name, data in kept.items() if name.endswith("state.db"))
    assert own.read_text().startswith("whsec_")
    found = [
        (secret, name)
        for secret in (*USERS.values(), ENDPOINT, own.read_text())
        for word in spelled(secret)
        for name, data in (
            *kept.items(),
            *(("a message", one) for one in messages),
            *(("a command line", one) for one in lines),
            *(("a request", one.head) for one in target.received),
        )
        if word in data
    ]
    assert found == []
