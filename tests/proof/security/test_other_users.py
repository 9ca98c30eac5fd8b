"""Other people on the same machine: what they plant is not believed, what svc makes is closed."""

import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import typer

import svc as package
from support.orders import CREATE_ORDER
from support.running import Svc, run_to_end
from support.servers.misbehaving import ScriptedServer

CRASHING = Path(__file__).with_name("crashing.py")
STRANGER = 47_110  # a user that no machine has
SOMEBODY = 47_111  # and another one
OPEN_HOME = ("SVC_CONFIG_DIR", "SVC_STATE_DIR", "SVC_CACHE_DIR")
as_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root may give files away")


Careless = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture
def careless(svc: Svc) -> Careless:
    """Runs svc under a umask that takes nothing away, as many container images have it."""

    def run(*argv: str) -> subprocess.CompletedProcess[str]:
        before = os.umask(0)
        try:
            result = svc(*argv)
        finally:
            os.umask(before)
        return subprocess.CompletedProcess(argv, result.code, result.out, result.err)

    return run


class Somebody:
    """A user who is not root, with a home in a folder that everybody may enter."""

    def __init__(self, folder: Path, python: str) -> None:
        self.folder, self.python = folder, python
        self.home = self.made("home", SOMEBODY, 0o700)
        lie_beside = (package, typer)  # what svc needs may lie elsewhere, as in a copy of the tree
        self.packages = os.pathsep.join(str(Path(str(it.__file__)).parents[1]) for it in lie_beside)

    def made(self, name: str, owner: int, mode: int) -> Path:
        """A folder of one user."""
        path = self.folder / name
        path.mkdir()
        path.chmod(mode)
        os.chown(path, owner, owner)
        return path

    def svc(self, *argv: str, **env: str) -> subprocess.CompletedProcess[str]:
        """Runs the program as this user."""
        return run_to_end(
            [self.python, "-P", "-m", "svc", *argv],
            user=SOMEBODY,
            group=SOMEBODY,
            extra_groups=[],
            env={
                "PATH": os.environ["PATH"],
                "PYTHONPATH": self.packages,
                "PYTHONDONTWRITEBYTECODE": "1",
                "HOME": str(self.home),
                **env,
            },
            cwd=self.folder,
            stdin=subprocess.DEVNULL,
        )


@pytest.fixture
def somebody() -> Iterator[Somebody]:
    """Where this user can run an interpreter of this version: root's own is often closed to him."""
    with tempfile.TemporaryDirectory() as place:
        Path(place).chmod(0o755)
        debians = f"/usr/bin/python{sys.version_info.major}.{sys.version_info.minor}"
        for python in (sys.executable, debians):
            one = Somebody(Path(place), python)
            try:
                if one.svc("--version").returncode == 0:
                    yield one
                    return
            except OSError:
                pass
            one.home.rmdir()
        pytest.skip("no interpreter of this version that another user may run")


def careless_crash(*argv: str) -> subprocess.CompletedProcess[str]:
    """The same with a bug in the middle of it."""
    program = [sys.executable, str(CRASHING), "250", *argv]
    return run_to_end(program, umask=0)


def modes(folder: Path) -> dict[str, int]:
    """The rights of all that lies in a folder."""
    return {
        str(path.relative_to(folder)): path.lstat().st_mode & 0o777 for path in folder.rglob("*")
    }


@pytest.mark.slow
def test_under_umask_000_all_that_svc_makes_is_the_users_alone(
    isolated: Path, monkeypatch: pytest.MonkeyPatch, careless: Careless
) -> None:
    """R104: folders and files, those above them, and those of a sandbox in the background."""
    for name in OPEN_HOME:
        monkeypatch.delenv(name)
    ready = isolated / "ready"
    started = careless(
        *("sandbox", "start", "--detach", "--port", "0", "--tls", "--ready-file", str(ready))
    )
    try:
        assert started.returncode == 0, started.stderr
        made = careless(*CREATE_ORDER)
        assert made.returncode == 0, made.stderr
        assert careless("keys", "list").returncode == 0
        found = modes(isolated)
    finally:
        careless("sandbox", "stop", "--all")
    assert {name.split("/")[0] for name in found} == {".config", ".local", ".cache", "ready"}
    assert {name: oct(mode) for name, mode in found.items() if mode & 0o077} == {}


@pytest.mark.effect_of("events listen", "--ready-file")
def test_under_umask_000_what_a_command_writes_is_the_users_alone(
    isolated: Path, careless: Careless
) -> None:
    """R104: results of a list, a sandbox brought out and in, a bug's report, what a listener keeps."""
    rows = isolated / "rows.csv"
    rows.write_text("amount,currency,shipping[country],items[0][name]\n12900,EUR,DE,Jacket\n")
    rows.chmod(0o600)
    export, results, ready = (isolated / name for name in ("out.json", "mine.ndjson", "ready"))
    listen = ("events", "listen", "--timeout", "1", "--ready-file", str(ready))
    try:
        assert careless("sandbox", "start", "--detach", "--port", "0").returncode == 0
        careless("batch", "orders.create", str(rows), "--yes")
        careless(
            "batch", "orders.create", str(rows), "--yes", "--import", "x", "--results", str(results)
        )
        assert careless("sandbox", "export", str(export)).returncode == 0
        assert careless("sandbox", "import", str(export), "--yes").returncode == 0
        heard = careless(*listen, "--exec", f"cp -p {ready} {isolated / 'seen'}; sleep 0.2")
        crashed = careless_crash("orders", "list")
        found = modes(isolated)
    finally:
        careless("sandbox", "stop", "--all")
    assert crashed.returncode == 1
    names = {Path(name).name for name in found}
    assert {"rows.csv.results.ndjson", results.name, export.name, "seen"} <= names, (names, heard)
    assert any("report" in name for name in found), found
    assert {name: oct(mode) for name, mode in found.items() if mode & 0o077} == {}


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_under_umask_000_nobody_else_writes_a_completion(
    isolated: Path, careless: Careless, shell: str
) -> None:
    """R104: a shell runs what it finds there."""
    done = careless("completion", shell, "--install")
    assert done.returncode == 0, done.stderr
    found = modes(isolated)
    assert found
    assert {name: oct(mode) for name, mode in found.items() if mode & 0o022} == {}


@as_root
def test_a_configuration_that_somebody_planted_gets_no_key(
    hostile: ScriptedServer, isolated: Path, monkeypatch: pytest.MonkeyPatch, careless: Careless
) -> None:
    """R104: once ~/.config was open to all, he chose the proxy, and who vouches for it."""
    for name in OPEN_HOME:
        monkeypatch.delenv(name)
    planted = isolated / ".config" / "svc"
    planted.mkdir(parents=True)
    (planted / "config.toml").write_text(
        f'active_profile = "x"\nkeyring_backends = ["evil.Ring"]\n'
        f'[profiles.x]\nbase_url = "{hostile.url}"\n'
    )
    (planted / "evil.py").write_text(f"open({str(isolated / 'was-run')!r}, 'w')\n")
    (isolated / ".config").chmod(0o777)
    for path in (planted, *planted.iterdir()):
        os.chown(path, STRANGER, STRANGER)
    monkeypatch.setenv("PYTHONPATH", str(planted))
    monkeypatch.setenv("SVC_API_KEY", "sk_test_canary7Qx2Lw9Zp4")
    for argv in (("orders", "list"), ("config", "set", "color", "never"), ("keys", "list")):
        done = careless(*argv, "-o", "human")
        assert done.returncode == 10, (argv, done)
        assert f"{planted} belongs to another user" in done.stderr
        assert "chmod 700" in done.stderr
    assert hostile.connections == 0
    assert not (isolated / "was-run").exists()


def planted(somebody: Somebody, owner: int, mode: int, url: str) -> Path:
    """A folder with a configuration that leads to somebody's server."""
    folder = somebody.made("config", owner, 0o755)
    file = folder / "config.toml"
    file.write_text(f'active_profile = "x"\n[profiles.x]\nbase_url = "{url}"\n')
    file.chmod(0o644)
    os.chown(file, owner, owner)
    folder.chmod(mode)
    return folder


@as_root
@pytest.mark.parametrize(
    ("owner", "mode", "code"),
    [
        pytest.param(SOMEBODY, 0o755, 8, id="his own", marks=pytest.mark.slow),
        pytest.param(0, 0o755, 8, id="root's"),
        pytest.param(STRANGER, 0o755, 10, id="a stranger's"),
        pytest.param(SOMEBODY, 0o777, 10, id="his own, open to all"),
        pytest.param(0, 0o777, 10, id="root's, open to all", marks=pytest.mark.slow),
    ],
)
def test_who_is_not_root_believes_himself_and_root(
    hostile: ScriptedServer, somebody: Somebody, owner: int, mode: int, code: int
) -> None:
    """R104: whoever else may write the folder chooses no address for his key."""
    folder = planted(somebody, owner, mode, hostile.url)
    hostile.play(hostile.reply(503, {}))
    env = {"SVC_CONFIG_DIR": str(folder), "SVC_API_KEY": "sk_test_canary7Qx2Lw9Zp4"}
    done = somebody.svc("orders", "list", "-o", "human", "--max-time", "1", **env)
    assert done.returncode == code, done
    assert (hostile.requests == []) == (code == 10)
    if code == 10:
        assert f"chmod 700 '{folder}'" in done.stderr


@as_root
def test_who_is_not_root_gets_a_diagnosis_whatever_is_closed_to_him(somebody: Somebody) -> None:
    """A folder in PATH, and one for the state, that he may not enter: findings, not an end."""
    closed = somebody.made("closed", 0, 0o700)
    env = {"PATH": f"{closed}:/usr/bin", "SVC_STATE_DIR": str(closed / "state")}
    done = somebody.svc("doctor", "-o", "human", SVC_API_KEY="sk_test_canary7Qx2Lw9Zp4", **env)
    assert done.returncode == 11, done
    assert f"{closed / 'state'}" in done.stdout
    assert str(closed / "cloudflared") not in done.stdout
    used = somebody.svc("requests", "list", "-o", "human", **env)
    assert used.returncode == 10
    assert str(closed / "state") in used.stderr
