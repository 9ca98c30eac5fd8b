"""`svc events log template`: prints the configuration files of the NATS servers of a log.

A team's log lies on three NATS servers, or one, that the team runs itself. Options in, the text of
a file out; the texts are made by `svc.listen.log.template`.
"""

from collections.abc import Sequence

from svc.cli.events.team import EVENT_RATE, size_of
from svc.cli.framework.app import make_app, verb
from svc.cli.framework.options import REQUIRED, flag, option
from svc.cli.framework.session import Session
from svc.errors import UsageError
from svc.listen.log import template
from svc.listen.log.address import LogAddress

app = make_app()


@verb(app, "template")
def template_(
    session: Session,
    name: str = option("NAME", "The log's name.", default=REQUIRED),
    node: int = option(
        "N", "Which of the three servers it is for.", min=1, max=template.NODES, default=1
    ),
    host: list[str] | None = option(
        "HOST", "The name of a server, for each of the three in order."
    ),
    events_per_minute: int | None = EVENT_RATE,
    max_file_store: str | None = option("SIZE", "How much each server may store, such as 20GiB."),
    environment: bool = flag(
        "--environment", "Print the variables that servers read, with new secrets."
    ),
    systemd: bool = flag("--systemd", "Print a unit of systemd that runs one."),
    trial: bool = flag("--trial", "All servers on this machine, without certificates."),
    single: bool = flag(
        "--single", "One server in place of three, for a team that can wait for it."
    ),
) -> None:
    """Print the configuration of one of the three servers of a log, or of one alone.

    svc writes it and runs no server. Beside it lie the users' file, which svc events log user
    writes, and the variables of --environment, the same on all servers.

    $ svc events log template --name shop --node 1 > nats.conf
    $ svc events log template --name shop --environment > log.env
    $ svc events log template --name shop --systemd > svc-log.service
    """
    LogAddress.parse(f"nats://127.0.0.1/{name}", "--name")
    if single and node != 1:
        raise UsageError("--single has one server.", param="--node")
    _check_hosts(name, host or (), may_be_given=not (trial or single))
    stored = template.file_bytes_for(events_per_minute or 1)
    if max_file_store is not None:
        stored = size_of(max_file_store, "--max-file-store")
    mode, hosts = session.settings.mode, tuple(host or template.EXAMPLE_HOSTS)
    cluster = template.Cluster(name, mode, hosts, stored, trial, single)
    text = template.configuration(cluster, node)
    if environment:
        text = template.environment(cluster)
    elif systemd:
        text = template.unit(cluster)
    session.stdout.write(text)


def _check_hosts(name: str, hosts: Sequence[str], *, may_be_given: bool) -> None:
    if hosts and (len(set(hosts)) != template.NODES or not may_be_given):
        raise UsageError("--host is given three times, once for each server.", param="--host")
    for one in hosts:
        LogAddress.parse(f"nats+tls://{one}/{name}", "--host")
