"""The configuration of a log's servers, written once by whoever runs them; svc runs none."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from svc.errors import UsageError
from svc.listen.log.address import LogAddress
from svc.listen.log.streams import group_name
from svc.service.facts import Mode

NODES: Final = 3
_MOST_CURSORS: Final = 3  # listeners at once on one machine


@dataclass(frozen=True, slots=True)
class Team:
    """Who uses a log: its name, the mode of its events, its laptops and its groups of jobs."""

    name: str
    mode: Mode
    laptops: tuple[str, ...]
    groups: tuple[str, ...]

    @property
    def address(self) -> LogAddress:
        """The log, wherever it is going to be."""
        return LogAddress((("127.0.0.1", 4222),), self.name, tls=False)


@dataclass(frozen=True, slots=True)
class Node:
    """One of the servers; `trial`: all of them on this machine, without certificates."""

    number: int
    trial: bool

    @property
    def port(self) -> int:
        """Where it takes clients."""
        return 4221 + self.number if self.trial else 4222

    @property
    def monitor(self) -> int:
        """Where it answers --log-monitor."""
        return 8221 + self.number if self.trial else 8222

    def route(self, number: int) -> str:
        """Where it finds one of the servers."""
        return f"127.0.0.1:{6221 + number}" if self.trial else f"log{number}.example.com:6222"

    @property
    def listens(self) -> str:
        """Where the others find it."""
        return self.route(self.number) if self.trial else "0.0.0.0:6222"


def refuse_clashes(team: Team) -> None:
    """Refuses names that would make two users one, or let a laptop read as another.

    Raises:
        UsageError: there are such.
    """
    taken: dict[str, str] = {}
    named = [("", "admin"), ("", "receiver")]
    named += [("--laptop", one) for one in team.laptops]
    named += [("--group", one) for one in team.groups]
    for option, name in named:
        parts = _cursors(name) if option == "--laptop" else []
        for part in (_variable(name), *parts):
            if part in taken:
                raise UsageError(
                    f"{option} {name!r} clashes with {taken[part]!r}: a password's variable or a "
                    "reader's name would be the same.",
                    param=option,
                    hint="Give each user a name of its own",
                )
            taken[part] = name


def configuration(team: Team, node: Node) -> str:
    """Writes the configuration of one node, with a password from the environment for each user."""
    host = "127.0.0.1" if node.trial else "0.0.0.0"  # noqa: S104  it serves a team
    routes = ", ".join(
        f'"nats://{node.route(number)}"' for number in range(1, NODES + 1) if number != node.number
    )
    return f"""{_head(team, node)}
server_name: "{team.name}-{node.number}"
listen: "{host}:{node.port}"
http: "127.0.0.1:{node.monitor}"  # for svc ... --log-monitor; not for the world
max_payload: 4MB  # an event has up to 1 MiB, and headers; the default is too little

jetstream {{
  store_dir: "./{team.name}-{node.number}"
  sync_interval: always  # else a power cut loses up to two minutes of what was acknowledged
  max_memory_store: 256MB
  max_file_store: 12GB
  # Names and addresses of shoppers lie in it.
  cipher: chachapoly
  key: $LOG_KEY
}}

cluster {{
  name: "{team.name}"
  listen: "{node.listens}"
  routes: [{routes}]{_cluster_tls(node)}
}}
{_client_tls(node)}
authorization {{
  users: [
{"".join(_users(team))}  ]
}}
"""


def passwords(team: Team) -> list[str]:
    """Names the variables of the environment that a server reads when it starts."""
    users = ["admin", "receiver", *team.laptops, *team.groups]
    return ["LOG_KEY", *map(_variable, users)]


def _head(team: Team, node: Node) -> str:
    other = [str(number) for number in range(1, NODES + 1) if number != node.number]
    names = " ".join(passwords(team))
    return f"""# Server {node.number} of {NODES} of the log {team.name}, for {team.mode} mode.
# Those of the others: the same command with --node {" and --node ".join(other)}.
# Each server reads these from its environment when it starts, the same values on all of them:
#   {names}
# Passwords of letters and digits that begin with a letter: others read as something else here.
# nats-server 2.12.3 or later. Replace no server before all copies of another are current, and
# never peer-remove one that is only away."""


def _cluster_tls(node: Node) -> str:
    if node.trial:
        return ""
    return """
  tls { cert_file: "server.pem", key_file: "server-key.pem", ca_file: "ca.pem", verify: true }"""


def _client_tls(node: Node) -> str:
    if node.trial:
        return ""
    return """
tls { cert_file: "server.pem", key_file: "server-key.pem" }
"""


def _users(team: Team) -> list[str]:
    rights = {
        "receiver": receiver_rights(team),
        **{laptop: laptop_rights(team, laptop) for laptop in team.laptops},
        **{group: group_rights(team, group) for group in team.groups},
    }
    users = [_user(name, allowed, [f"_INBOX_{name}.>"]) for name, allowed in rights.items()]
    return [_user("admin", [">"], [">"]), *users]


def receiver_rights(team: Team) -> list[str]:
    """What a receiver may publish to: events of its mode, and a look at the stream."""
    stream = team.address.stream(team.mode)
    return [team.address.subjects(team.mode), f"$JS.API.STREAM.INFO.{stream}"]


def laptop_rights(team: Team, laptop: str) -> list[str]:
    """What a laptop may ask for: everything about the consumers of its own name.

    Rights name whole consumers, since a wildcard matches no part of a name.
    """
    stream = team.address.stream(team.mode)
    verbs = [
        right
        for name in _cursors(laptop)
        for right in (
            f"$JS.API.CONSUMER.CREATE.{stream}.{name}",
            f"$JS.API.CONSUMER.CREATE.{stream}.{name}.>",
            f"$JS.API.CONSUMER.INFO.{stream}.{name}",
            f"$JS.API.CONSUMER.DELETE.{stream}.{name}",
            f"$JS.API.CONSUMER.MSG.NEXT.{stream}.{name}",
        )
    ]
    return [f"$JS.API.STREAM.INFO.{stream}", f"$JS.API.DIRECT.GET.{stream}", *verbs]


def _cursors(laptop: str) -> list[str]:
    """The consumers of a laptop: one for each listener that runs on it at once."""
    return [f"c_{laptop}", *(f"c_{laptop}-{number}" for number in range(2, _MOST_CURSORS + 1))]


def group_rights(team: Team, group: str) -> list[str]:
    """What a job of a group may ask for: its share of the queue, and to say what became of it."""
    stream, name = team.address.stream(team.mode), group_name(group)
    return [
        f"$JS.API.STREAM.INFO.{stream}",
        f"$JS.API.CONSUMER.INFO.{stream}.{name}",
        f"$JS.API.CONSUMER.MSG.NEXT.{stream}.{name}",
        f"$JS.ACK.{stream}.{name}.>",
    ]


def _user(name: str, publish: Sequence[str], subscribe: Sequence[str]) -> str:
    given = ",\n        ".join(f'"{subject}"' for subject in publish)
    heard = ", ".join(f'"{subject}"' for subject in subscribe)
    return f"""    {{ user: "{name}", password: ${_variable(name)}, permissions: {{
      publish: [
        {given}
      ]
      subscribe: [{heard}]
    }} }}
"""


def _variable(user: str) -> str:
    return f"LOG_{user.upper().replace('-', '_')}_PASSWORD" if user != "LOG_KEY" else user
