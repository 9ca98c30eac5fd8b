"""A server that a merchant might have: OpenSSH to log in to and nginx in front, all on loopback."""

import os
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from support.serving import answers, free_port
from support.suite.patience import WAIT_SECONDS
from svc.sandbox.process.certificate import issue

SSHD = shutil.which("sshd", path=f"{os.environ.get('PATH', '')}:/usr/sbin:/sbin")
NGINX = shutil.which("nginx", path=f"{os.environ.get('PATH', '')}:/usr/sbin:/sbin")
SSH = shutil.which("ssh")
KEYGEN = shutil.which("ssh-keygen")

_SSHD_CONFIG = """
Port {port}
ListenAddress 127.0.0.1
HostKey {folder}/host
AuthorizedKeysFile {folder}/user.pub
PidFile none
StrictModes no
UsePAM no
PasswordAuthentication no
KbdInteractiveAuthentication no
AllowTcpForwarding remote
"""

_SSH_CONFIG = """
Host front
  HostName 127.0.0.1
  Port {port}
  IdentityFile {folder}/user
  IdentitiesOnly yes
  UserKnownHostsFile {folder}/known_hosts
  LogLevel QUIET
  ControlMaster auto
  ControlPath {folder}/shared
  ControlPersist 60
"""

_NGINX_CONFIG = """
daemon off;
master_process off;
pid {folder}/nginx.pid;
error_log {folder}/nginx.log;
events {{}}
http {{
  access_log off;
  client_body_temp_path {folder}/body;
  proxy_temp_path {folder}/proxy;
  fastcgi_temp_path {folder}/fastcgi;
  uwsgi_temp_path {folder}/uwsgi;
  scgi_temp_path {folder}/scgi;
  server {{
    listen 127.0.0.1:{port} ssl;
    ssl_certificate {folder}/certificate.pem;
    ssl_certificate_key {folder}/private_key.pem;
    location / {{
      proxy_pass http://127.0.0.1:{remote};
      proxy_set_header Host $host;
      proxy_set_header X-Forwarded-For $remote_addr;
    }}
  }}
}}
"""


def until(true: Callable[[], bool], seconds: float = WAIT_SECONDS) -> float:
    """Waits until something is so; gives the seconds that it took."""
    begun = time.monotonic()
    while not true():
        assert time.monotonic() < begun + seconds, "it did not come to that"
        time.sleep(0.01)
    return time.monotonic() - begun


def children(pid: int) -> list[int]:
    """The processes that a process has started, by any of its threads."""
    found: list[int] = []
    with suppress(OSError):  # the process may have ended
        for task in tuple(Path(f"/proc/{pid}/task").iterdir()):
            with suppress(OSError):  # the thread may have ended
                found += map(int, (task / "children").read_text(encoding="ascii").split())
    return found


def _descendants(pid: int) -> list[int]:
    """The latest ones first: sshd 10 holds a connection in a process below that of the login."""
    found = children(pid)
    return [*(later for one in found for later in _descendants(one)), *found]


def is_alive(pid: int) -> bool:
    """Whether a process runs; one that waits to be reaped does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text("utf-8").rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


@dataclass
class TunnelServer:
    """The running server.

    `url` is its public address, `remote` the port that nginx hands on to, `authority` the file
    that vouches for it, `path` a PATH on which ssh knows the server by the name `front`.
    """

    folder: Path
    url: str
    remote: int
    authority: Path
    path: str
    sshd: "subprocess.Popen[bytes]"

    def drop(self) -> None:
        """Kills every connection that somebody has logged in by."""
        for pid in _descendants(self.sshd.pid):
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)


@contextmanager
def serving(folder: Path) -> Iterator[TunnelServer]:
    """Runs sshd and nginx with keys and a certificate made for this once."""
    ssh_port, remote, https = free_port(), free_port(), free_port()
    _make_keys(folder, ssh_port)
    _make_certificate(folder)
    (folder / "sshd_config").write_text(_SSHD_CONFIG.format(port=ssh_port, folder=folder))
    web = _NGINX_CONFIG.format(port=https, folder=folder, remote=remote)
    (folder / "nginx.conf").write_text(web)
    with (
        _running(str(SSHD), "-D", "-e", "-f", f"{folder}/sshd_config", log=folder / "sshd") as sshd,
        _running(str(NGINX), "-p", f"{folder}", "-c", f"{folder}/nginx.conf", log=folder / "web"),
    ):
        until(lambda: answers(ssh_port) and answers(https))
        url = f"https://localhost:{https}"
        path = f"{_named_ssh(folder, ssh_port)}:{os.environ['PATH']}"
        yield TunnelServer(folder, url, remote, folder / "authority.pem", path, sshd)


@contextmanager
def _running(*argv: str, log: Path) -> Iterator["subprocess.Popen[bytes]"]:
    with log.open("wb") as out:
        process = subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=out, stderr=out)
    try:
        yield process
    finally:
        started = children(process.pid)
        process.kill()
        process.wait()
        for pid in started:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)


def _make_keys(folder: Path, port: int) -> None:
    if os.geteuid() == 0:
        Path("/run/sshd").mkdir(mode=0o755, exist_ok=True)  # where sshd gives up its rights
    for name in ("host", "user"):
        made = [str(KEYGEN), "-q", "-t", "ed25519", "-N", "", "-f", f"{folder}/{name}"]
        subprocess.run(made, check=True)
    key = " ".join((folder / "host.pub").read_text().split()[:2])
    (folder / "known_hosts").write_text(f"[127.0.0.1]:{port} {key}\n")


def _make_certificate(folder: Path) -> None:
    issued = issue(datetime.now(UTC))
    (folder / "authority.pem").write_bytes(issued.authority)
    (folder / "certificate.pem").write_bytes(issued.certificate)
    (folder / "private_key.pem").write_bytes(issued.private_key)


def _named_ssh(folder: Path, port: int) -> Path:
    """Gives the user a configuration; OpenSSH looks for it in the passwd file's home, not HOME."""
    (folder / "config").write_text(_SSH_CONFIG.format(port=port, folder=folder))
    (folder / "bin").mkdir()
    program = folder / "bin" / "ssh"
    program.write_text(f'#!/bin/sh\nexec {SSH} -F {folder}/config "$@"\n')
    program.chmod(0o755)
    return program.parent
