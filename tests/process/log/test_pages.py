"""Everything that the pages of a team show is run, on a real server, in the order of the pages."""

import os
import re
import signal
import sys
from pathlib import Path

import pytest

from support.listening import TargetServer, arrival, event, status_line
from support.running import run_to_end
from support.team.commands import TeamCommands
from support.team.log import KEY, connect, job, wait_for
from svc.cli.help.page import page_of, read_shell_lines
from svc.listen.inbox.interfaces import Batch
from svc.listen.log.inboxes import LogInbox

pytestmark = pytest.mark.usefixtures("needed")
SHOWN = "evt_3kPq0aVb7cXd9eYf1gZh2iWj"
LINES = [
    (topic, line)
    for topic in ("team", "team-operations")
    for part in page_of(topic).parts
    for line in read_shell_lines(part)
    if line.startswith(("svc ", "cat ", "set "))
    and " login " not in line  # cli/events/test_login.py: a keyring
]
LINES.sort(key=lambda one: "--new-key" in one[1])  # last: it ends the job that has the older one


def as_here(line: str, team: TeamCommands) -> str:
    """A line with the log, the target and the command that there are here."""
    line = re.sub(r"nats(\+tls)?://\S+", team.url, line)
    line = line.replace("nats-server -c", "nats-server -t -c")  # it only reads what was written
    line = line.replace("http://127.0.0.1:8222", team.running.monitor)
    line = line.replace("--exec 'make e2e'", "--exec true")
    if " listen " in line and "--exec" not in line:
        line += " --timeout 0"
    if " receive " in line:
        return f"timeout --preserve-status -s TERM 3 {line}"
    return line


@pytest.mark.effect_of("events log failed list", "--group")
@pytest.mark.slow(seconds=40)
@pytest.mark.limit(180)
def test_the_pages_of_a_team_are_carried_out(team: TeamCommands, tmp_path: Path) -> None:
    """Each line as it stands but for addresses; a wrong one would be believed."""
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    ended: dict[str, int] = {}
    with (
        TargetServer(lambda _: status_line(422)) as target,
        connect(team.running, f"{team.users['admin']}\n{KEY}") as connection,
        job(team.running, tmp_path / "a", target.port, credentials=f"{team.users['ci']}\n{KEY}"),
    ):
        one = arrival(event(1, id=SHOWN))
        LogInbox(connection, "test", KEY).store(Batch([one]))
        failed = ("events", "log", "failed", "list", "--from", team.url)
        wait_for(lambda: len(team.run("ci", *failed).json) == 1)
        for topic, line in LINES:
            folder = tmp_path / topic
            folder.mkdir(exist_ok=True)
            if " failed drop " in line:  # given again, and refused again
                wait_for(lambda: len(team.run("ci", *failed).json) == 1)
            user = (
                "receiver" if " receive " in line else "ci" if "--group ci --f" in line else "admin"
            )
            credentials = f"{team.users[user]}\n{KEY}"
            done = run_to_end(["bash", "-euc", as_here(line, team)], cwd=folder, env={**os.environ, "PATH": path, "SVC_LOG_CREDENTIALS": credentials})  # fmt: skip
            ended[line] = done.returncode
            expected = {128 + signal.SIGTERM} if " receive " in line else {0}
            if " doctor " in line:
                expected.add(11)
            assert done.returncode in expected, (line, done.stdout[-500:], done.stderr[-1000:])
    assert len(ended) > 30
    written = {one.name for one in folder.iterdir()}  # of the last page
    assert {"nats.conf", "log.env", "users.conf", "svc-log.service", "ben.creds"} <= written
