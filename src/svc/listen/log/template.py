"""Writes the configuration files for the NATS servers of a log; svc runs no server.

`svc events log template` prints them for the operator of the servers; `log create` takes the size
of a stream from `bytes_for`.
"""

from dataclasses import dataclass
from secrets import token_hex
from typing import Final

from svc.listen.log.streams import EVENT_BYTES, MAX_AGE_SECONDS
from svc.service.facts import Mode

NODES: Final = 3
GIB: Final = 1 << 30
LEAST_BYTES: Final = 10 * GIB
EXAMPLE_HOSTS: Final = tuple(f"log{number}.example.com" for number in range(1, NODES + 1))
USERS_FILE: Final = "users.conf"
ENVIRONMENT_FILE: Final = "log.env"
_ROUTE: Final = "route"
_SECRET_BYTES: Final = 24
_SPARE: Final = 1.2  # of a disk, beside the streams


@dataclass(frozen=True, slots=True)
class Cluster:
    """The servers of a log: its name and mode, their names, and how much each may store.

    `trial`: all of them on this machine, without certificates. `single`: one alone.
    """

    log: str
    mode: Mode
    hosts: tuple[str, ...]
    file_bytes: int
    trial: bool
    single: bool

    def route(self, number: int) -> str:
        """Where the others find a server, counted from 1."""
        return f"127.0.0.1:{6221 + number}" if self.trial else f"{self.hosts[number - 1]}:6222"


def bytes_for(events_per_minute: int | None) -> int:
    """Returns how much a stream has to hold for seven days of so many events, in bytes."""
    if events_per_minute is None:
        return LEAST_BYTES
    needed = events_per_minute * EVENT_BYTES * MAX_AGE_SECONDS // 60
    return max(-(-needed // GIB) * GIB, LEAST_BYTES)


def file_bytes_for(events_per_minute: int | None) -> int:
    """Returns how much a server has to store for it, in bytes."""
    return -(-int(bytes_for(events_per_minute) * _SPARE) // GIB) * GIB


def configuration(cluster: Cluster, number: int) -> str:
    """Writes the configuration of one server, counted from 1."""
    trial = cluster.trial
    host, port, monitor = "0.0.0.0", 4222, 8222  # noqa: S104  it serves a team
    if trial:
        host, port, monitor = "127.0.0.1", 4221 + number, 8221 + number
    name = f"{cluster.log}-{number}"
    others = " --node ".join(str(n) for n in range(1, NODES + 1) if n != number)
    which = f"""# Server {number} of {NODES} of the log {cluster.log}, for {cluster.mode} mode.
# Those of the others: the same command with --node {others}. Replace no server before all copies
# of another are current, and never peer-remove one that is only away."""
    if cluster.single:
        which = f"# The one server of the log {cluster.log}, for {cluster.mode} mode."
    return f"""{which}
# Beside it: {USERS_FILE} (svc events log user), and in its environment {ENVIRONMENT_FILE}
# (svc events log template --environment), the same on all servers and readable by them alone.
# nats-server 2.12.3 or later.
server_name: "{name}"
listen: "{host}:{port}"
http: "127.0.0.1:{monitor}"  # for svc ... --log-monitor; not for the world
max_payload: 4MB  # an event has up to 1 MiB, and headers; the default is too little

jetstream {{
  store_dir: "./{name}"
  sync_interval: always  # else a power cut loses up to two minutes of what was acknowledged
  max_memory_store: 256MB
  max_file_store: {cluster.file_bytes // GIB}GB
  # Names and addresses of shoppers lie in it.
  cipher: chachapoly
  key: $LOG_KEY
}}
{"" if cluster.single else _describe_routes(cluster, number)}{"" if trial else _CLIENT_TLS}
include "{USERS_FILE}"
"""


def _describe_routes(cluster: Cluster, number: int) -> str:
    return f"""
cluster {{
  name: "{cluster.log}"
  listen: "{cluster.route(number)}"
  # A server of the cluster reads and writes everything: a password of its own.
  authorization {{ user: {_ROUTE}, password: $LOG_CLUSTER_PASSWORD, timeout: 5 }}
  routes: $LOG_ROUTES{"" if cluster.trial else _CLUSTER_TLS}
}}
"""


_CLUSTER_TLS: Final = """
  # The authority of these certificates must be one's own and issue them to these servers alone:
  # a public one, or the company's, would let any of its certificates ask to join.
  tls {
    cert_file: "cluster.pem", key_file: "cluster-key.pem", ca_file: "cluster-ca.pem"
    verify_cert_and_check_known_urls: true  # the names in LOG_ROUTES, and no others
  }"""
_CLIENT_TLS: Final = """
tls { cert_file: "server.pem", key_file: "server-key.pem" }
"""


def environment(cluster: Cluster) -> str:
    """Writes the variables that servers read when they start, with new secrets.

    For a shell, and for systemd's EnvironmentFile; the same on all servers.
    """
    key = f"LOG_KEY=k{token_hex(_SECRET_BYTES)}\n"  # a word of digits alone is read as a number
    if cluster.single:
        return key
    password = f"r{token_hex(_SECRET_BYTES)}"
    routes = ", ".join(
        f'"nats://{_ROUTE}:{password}@{cluster.route(number)}"' for number in range(1, NODES + 1)
    )
    return f"""{key}LOG_CLUSTER_PASSWORD={password}
LOG_ROUTES='[{routes}]'
"""


def unit(cluster: Cluster) -> str:
    """Writes a unit of systemd that runs one server."""
    folder = f"/var/lib/svc-log-{cluster.log}"
    return f"""[Unit]
Description=Server of the log {cluster.log} (NATS JetStream)
Wants=network-online.target
After=network-online.target

[Service]
User=nats
WorkingDirectory={folder}
EnvironmentFile={folder}/{ENVIRONMENT_FILE}
ExecStart=/usr/local/bin/nats-server -c {folder}/nats.conf
# Twice: a new user's rights count from the second time.
ExecReload=/bin/kill -HUP $MAINPID
ExecReload=/bin/sleep 1
ExecReload=/bin/kill -HUP $MAINPID
# Lame duck mode: clients move to the other servers before this one ends.
ExecStop=/bin/kill -USR2 $MAINPID
TimeoutStopSec=150
KillSignal=SIGTERM
Restart=always
RestartSec=2
LimitNOFILE=65536
ProtectSystem=strict
ReadWritePaths={folder}
ProtectHome=true
PrivateTmp=true
NoNewPrivileges=true

[Install]
WantedBy=multi-user.target
"""
