"""What is started, how it is ended with all that it started, and what Windows needs instead."""

import errno
import os
import signal
import socket
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from support.suite.patience import WAIT_SECONDS
from svc.errors import LocalError
from svc.system import processes
from svc.system.processes import (
    Group,
    build_group_options,
    build_own_command,
    find_program,
    notify_systemd,
    send_signal,
    split_command,
    start_apart,
    wrap_to_die_with_us,
)


@pytest.fixture(params=["posix", "stand-in for Windows"])
def posix(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> bool:
    """Whether there are process groups; without them there is what Windows has."""
    posix = str(request.param) == "posix"
    if not posix:
        monkeypatch.setattr(processes, "_HAS_GROUPS", False)
        monkeypatch.setattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0x200, raising=False)
        monkeypatch.setattr(subprocess, "CREATE_NO_WINDOW", 0x8000000, raising=False)
        monkeypatch.setattr(signal, "CTRL_BREAK_EVENT", 21, raising=False)
    return posix


@pytest.mark.parametrize(
    ("text", "platform", "words"),
    [
        ("a 'b c' \"d # e\" f#g", "linux", ["a", "b c", "d # e", "f#g"]),
        ("a;b|c a\\ b", "linux", ["a;b|c", "a b"]),
        (r"C:\svc\run.exe 'b c'", "win32", [r"C:\svc\run.exe", "b c"]),
    ],
)
def test_a_command_line_is_split_as_a_shell_does(
    text: str, platform: str, words: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """But nothing of it is run by one."""
    monkeypatch.setattr(sys, "platform", platform)
    assert split_command(text) == words


def test_a_program_is_found_on_path_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """R43: what lies in the working directory is a stranger's."""
    program = tmp_path / "tool"
    program.write_text("")
    program.chmod(0o700)
    monkeypatch.chdir(tmp_path)
    assert find_program("tool", {"PATH": str(tmp_path)}) == str(program)
    for path in (".", "", "/nowhere"):
        assert find_program("tool", {"PATH": path}) is None
    assert find_program("tool", {}) is None


def test_a_child_is_out_of_reach_of_our_ctrl_c(posix: bool) -> None:
    """By a session of its own, or by what Windows has for that."""
    want = {"start_new_session": True} if posix else {"creationflags": 0x200}
    assert build_group_options() == want


def test_a_module_of_this_installation_is_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """R43: not one of the working directory; from an archive by its path, and never by one file."""
    env = {"A": "b"}
    assert build_own_command("svc.x", env) == ([sys.executable, "-P", "-m", "svc.x"], env)
    archive = tmp_path / "svc.pyz"
    with zipfile.ZipFile(archive, "w") as file:
        file.writestr("a", "")
    monkeypatch.setattr(sys, "argv", [str(archive)])
    monkeypatch.setattr(sys, "path", ["", "/one", "/two"])
    assert build_own_command("svc.x", env)[1] == {"A": "b", "PYTHONPATH": "/one:/two"}
    monkeypatch.setattr(sys, "frozen", True, raising=False)
    with pytest.raises(LocalError) as refused:
        build_own_command("svc.x", env)
    assert refused.value.code == "no_sandbox_in_this_build"


@pytest.mark.parametrize(
    ("can_replace", "has_script"), [(True, True), (False, True), (True, False)]
)
def test_a_child_that_dies_with_us_is_started_by_a_script(
    can_replace: bool, has_script: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where there is neither `exec` nor a file, the child alone is started."""
    monkeypatch.setattr(processes, "_HAS_EXEC", can_replace)
    if not has_script:
        monkeypatch.setattr(processes, "_PDEATHSIG", tmp_path / "gone")
    argv = wrap_to_die_with_us(("/bin/x", "y"))
    assert argv[-2:] == ["/bin/x", "y"]
    assert (len(argv) > 2) is (can_replace and has_script)
    if len(argv) > 2:
        assert argv[:3] == [sys.executable, "-I", "-S"]
        assert argv[4:5] == [str(os.getpid())]
        ran = subprocess.run([*argv[:-2], "/bin/echo", "ran"], capture_output=True, check=True)
        assert ran.stdout == b"ran\n"
        gone = subprocess.run([*argv[:-2], "/gone/x"], capture_output=True, text=True, check=False)
        assert (gone.returncode, gone.stderr) == (
            1,
            "/gone/x cannot be run: no such file or directory\n",
        )
        late = subprocess.run([*argv[:4], "1", "/bin/echo"], capture_output=True, check=True)
        assert late.stdout == b"", "who started it has ended"


def test_a_group_is_signalled_as_a_whole(posix: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Windows knows the leader alone, and a job object where there is one; 0 is Ctrl-C there."""
    sent: list[tuple[int, int]] = []
    monkeypatch.setattr(os, "killpg" if posix else "kill", lambda *what: sent.append(what))
    ended: list[bool] = []
    group = Group(7, lambda: bool(ended))
    assert group.lives()
    group.ask(signal.SIGTERM)
    group.kill()
    want = [(7, 0), (7, 15), (7, 9)] if posix else [(7, 21), (7, 9)]
    assert sent == want
    ended.append(True)
    assert group.lives() is posix
    group.ask(signal.SIGINT)
    assert (len(sent) > len(want)) is posix
    killed: list[int] = []
    job: Any = SimpleNamespace(kill=lambda: killed.append(1))
    Group(7, lambda: False, job).kill()
    assert killed == [1]

    def gone(*_: int) -> None:
        raise ProcessLookupError

    monkeypatch.setattr(os, "killpg" if posix else "kill", gone)
    assert Group(7, lambda: False).lives() is not posix


def test_a_signal_to_nobody_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """Another user's process is an error, and Windows has a word of its own for none."""
    assert send_signal(os.getpid(), 0)
    for number, is_nobody in ((errno.ESRCH, True), (errno.EINVAL, True), (errno.EPERM, False)):

        def refuse(*_: int, number: int = number) -> None:
            raise OSError(number, "no")

        monkeypatch.setattr(os, "kill", refuse)
        if is_nobody:
            assert not send_signal(1, 0)
        else:
            with pytest.raises(PermissionError):
                send_signal(1, 0)


@pytest.mark.parametrize("spawns", [True, False])
def test_a_process_apart_writes_to_one_pipe_and_reads_nothing(
    spawns: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is a session of its own where the system can; it is ended by force, also twice."""
    if not spawns:
        monkeypatch.delattr(os, "posix_spawn")
    script = "echo $A; cat; echo two >&2; ps -o sid= $$; exec sleep 60"
    apart = start_apart(["/bin/sh", "-c", script], {"A": "one", "PATH": os.environ["PATH"]})
    with os.fdopen(apart.pipe, "rb") as pipe:
        said = [pipe.readline().strip() for _ in range(3)]
        assert said[:2] == [b"one", b"two"]
        assert (int(said[2]) == apart.pid) is spawns
        apart.kill()
        apart.kill()
        assert pipe.read() == b""
    with pytest.raises(ProcessLookupError):
        os.kill(apart.pid, 0)


def test_what_cannot_be_started_leaves_nothing_open() -> None:
    """The pipe is closed again."""
    handles = Path("/proc/self/fd")
    before = len([*handles.iterdir()])
    with pytest.raises(FileNotFoundError):
        start_apart(["/gone/x"], {})
    assert len([*handles.iterdir()]) == before


@pytest.fixture
def notices(tmp_path: Path) -> Iterator[socket.socket]:
    """The socket that systemd listens at."""
    with closing(socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)) as listening:
        listening.settimeout(WAIT_SECONDS)
        yield listening


@pytest.mark.parametrize("abstract", [True, False])
def test_systemd_is_told_by_either_kind_of_name(
    notices: socket.socket, tmp_path: Path, abstract: bool
) -> None:
    """Where nobody listens, svc goes on: a stale name, another kind of address, none."""
    name = f"svc-{os.getpid()}-{tmp_path.name}"
    notices.bind(f"\0{name}" if abstract else str(tmp_path / "n"))
    for address in (str(tmp_path / "gone"), "@svc-nobody-listens-here", "vsock:2:1", ""):
        notify_systemd({"NOTIFY_SOCKET": address})
    notify_systemd({})
    notify_systemd({"NOTIFY_SOCKET": f"@{name}" if abstract else str(tmp_path / "n")})
    assert notices.recv(100) == b"READY=1"
