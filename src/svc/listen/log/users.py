"""The file of a log's users, which its NATS servers include and svc writes.

Each member is in an account of its own, which imports from the log's account exactly the requests
that the member may make. So an answer goes back to the member that asked and nowhere else, and any
other message that a member publishes reaches no stream.

`svc events log user` adds, rotates and removes users by it.
"""

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace
from secrets import token_hex
from typing import Final, Literal, Self, get_args

from svc.errors import UsageError
from svc.listen.log.address import LogAddress
from svc.listen.log.streams import group_name
from svc.service.facts import MODES, Mode

Role = Literal["admin", "receiver", "laptop", "job"]
ROLES: Final = get_args(Role)
_LOG: Final = "# svc-log: "
_USER: Final = "# svc-user: "
_ACCOUNT: Final = "LOG"
_PASSWORD_BYTES: Final = 20
_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,31}")
# Passwords are random and as long as a key: a slow hash would only cost servers their time.
_BCRYPT_ROUNDS: Final = 6
_STREAMED: Final = ("DIRECT.GET", "CONSUMER.MSG.NEXT")  # what has more than one answer


@dataclass(frozen=True, slots=True)
class User:
    """One user; `role` says what it may do, `group` is the queue of a job.

    `hashed` is the bcrypt hash of the password.
    """

    name: str
    role: Role
    group: str = ""
    hashed: str = field(default="", repr=False)


@dataclass(frozen=True, slots=True)
class Users:
    """All users of a log of a mode."""

    log: str
    mode: Mode
    users: tuple[User, ...] = ()

    @classmethod
    def parse(cls, text: str, source: str) -> Self:
        """Reads the file; `source` is its name.

        Raises:
            UsageError: svc has not written it.
        """
        lines = text.splitlines()
        try:
            [head] = [json.loads(one.removeprefix(_LOG)) for one in lines if one.startswith(_LOG)]
            users = [json.loads(one.removeprefix(_USER)) for one in lines if one.startswith(_USER)]
            found = cls(str(head["log"]), head["mode"], tuple(User(**one) for one in users))
            known = found.mode in MODES and all(one.role in ROLES for one in found.users)
        except (ValueError, KeyError, TypeError):
            known = False
        if not known:
            raise UsageError(
                f"{source} is not a file of a log's users that svc has written.",
                code="log_users_invalid",
                param="--users",
            )
        return found

    def add(self, name: str, role: Role, group: str) -> tuple[Self, str]:
        """Returns the users with one more, and its password.

        Raises:
            UsageError: there is one of that name, or the name is none.
        """
        if not _NAME.fullmatch(name) or name == _ACCOUNT:
            raise UsageError(
                f"{name!r} cannot name a user: letters, digits, - and _, at most 32.", param="NAME"
            )
        if self._has(name):
            raise UsageError(
                f"There is a user {name} already.",
                param="NAME",
                hint=f"Another password for it: svc events log user rotate {name}",
            )
        hashed, password = _make_password()
        one = User(name, role, (group or name) if role == "job" else "", hashed)
        return replace(self, users=(*self.users, one)), password

    def rotate(self, name: str) -> tuple[Self, str]:
        """Returns the users with another password for one, and that password; raises UsageError."""
        self._check(name)
        hashed, password = _make_password()
        users = [replace(one, hashed=hashed) if one.name == name else one for one in self.users]
        return replace(self, users=tuple(users)), password

    def remove(self, name: str) -> Self:
        """Returns the users without one; raises UsageError."""
        self._check(name)
        return replace(self, users=tuple(one for one in self.users if one.name != name))

    def text(self) -> str:
        """Writes the file."""
        members = [one for one in self.users if one.role != "admin"]
        admins = [one for one in self.users if one.role == "admin"]
        lines = [
            f"# The users of the log {self.log}, for {self.mode} mode; the same on all servers.",
            "# Written by svc events log user; a server reads it when it is reloaded.",
            _LOG + json.dumps({"log": self.log, "mode": self.mode}),
            *(_USER + json.dumps(asdict(one)) for one in self.users),
            "accounts {",
            *self._account_of_log(admins),
            *(line for one in members for line in self._account_of(one)),
            "}",
        ]
        return "\n".join(lines) + "\n"

    def _account_of_log(self, admins: Sequence[User]) -> Iterator[str]:
        yield f"  {_ACCOUNT} {{"
        yield "    jetstream: enabled"
        yield f"    users: [{', '.join(_login(one) for one in admins)}]"
        yield "    exports: ["
        for export in self._exports():
            yield f"      {export}"
        yield "    ]"
        yield "  }"

    def _exports(self) -> Iterator[str]:
        address = _address(self.log)
        yield f'{{ stream: "{address.notices(address.subjects(self.mode))}" }}'
        for subject in (address.subjects(self.mode), address.reader_subject(self.mode, "*")):
            yield f'{{ service: "{subject}" }}'
        stream = address.stream(self.mode)
        yield f'{{ service: "$JS.ACK.{stream}.*.>", response_type: stream }}'
        verbs = _list_verbs(address, self.mode)
        for verb in (*verbs, f"CONSUMER.INFO.{stream}.*", f"CONSUMER.MSG.NEXT.{stream}.*"):
            streamed = ", response_type: stream" if verb.startswith(_STREAMED) else ""
            yield f'{{ service: "$JS.API.{verb}"{streamed} }}'

    def _account_of(self, user: User) -> Iterator[str]:
        address = _address(self.log)
        verbs, subjects, notices = self._rights(user, address)
        imports = [f'{{ stream: {{ account: {_ACCOUNT}, subject: "{one}" }} }}' for one in notices]
        imports += [f'{{ service: {{ account: {_ACCOUNT}, subject: "{s}" }} }}' for s in subjects]
        imports += [
            f'{{ service: {{ account: {_ACCOUNT}, subject: "$JS.API.{verb}" }}, '
            f'to: "LOG.API.{verb}" }}'
            for verb in verbs
        ]
        publish = [*subjects, *(f"LOG.API.{verb}" for verb in verbs)]
        subscribe = [f"_INBOX_{user.name}.>", *notices]
        yield f"  {user.name} {{"
        yield f"    users: [{_login(user, publish, subscribe)}]"
        yield "    imports: ["
        for one in imports:
            yield f"      {one}"
        yield "    ]"
        yield "  }"

    def _rights(self, user: User, address: LogAddress) -> tuple[list[str], list[str], list[str]]:
        """Returns what a member may ask JetStream, publish to, and hear."""
        stream = address.stream(self.mode)
        verbs = _list_verbs(address, self.mode)
        if user.role == "receiver":
            return verbs, [address.subjects(self.mode)], []
        if user.role == "laptop":
            reports = address.reader_subject(self.mode, user.name)
            return verbs, [reports], [address.notices(address.subjects(self.mode))]
        name = group_name(user.group)
        queue = [f"CONSUMER.INFO.{stream}.{name}", f"CONSUMER.MSG.NEXT.{stream}.{name}"]
        return [*verbs, *queue], [f"$JS.ACK.{stream}.{name}.>"], []

    def _has(self, name: str) -> bool:
        return any(one.name == name for one in self.users)

    def _check(self, name: str) -> None:
        if not self._has(name):
            names = ", ".join(one.name for one in self.users) or "none"
            raise UsageError(f"There is no user {name}; there are: {names}.", param="NAME")


def _list_verbs(address: LogAddress, mode: Mode) -> list[str]:
    """What every member may see: the events, the groups, and what they have put aside."""
    stream = address.stream(mode)
    read = (stream, address.name_failed_stream(mode))
    verbs = [f"{verb}.{one}" for one in read for verb in ("STREAM.INFO", "DIRECT.GET")]
    return [*verbs, f"CONSUMER.LIST.{stream}"]


def _address(log: str) -> LogAddress:
    return LogAddress((("127.0.0.1", 4222),), log, tls=False)


def _login(user: User, publish: Sequence[str] = (), subscribe: Sequence[str] = ()) -> str:
    rights = ""
    if publish:
        allowed = f"publish: {json.dumps(publish)}, subscribe: {json.dumps(subscribe)}"
        rights = f", permissions: {{ {allowed} }}"
    return f'{{ user: "{user.name}", password: "{user.hashed}"{rights} }}'


def _make_password() -> tuple[str, str]:
    import bcrypt

    password = token_hex(_PASSWORD_BYTES)
    return bcrypt.hashpw(password.encode(), bcrypt.gensalt(_BCRYPT_ROUNDS)).decode(), password
