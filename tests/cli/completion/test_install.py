"""`svc completion SHELL --install` writes the right file once and says which."""

import os
import shlex
import stat
import subprocess
from pathlib import Path

import pytest

from cli.completion.shells import program
from cli.completion.terminal import SCRIPTS, ShellTerminal
from support.running import Svc

PLACES = {
    "bash": (".local/share/bash-completion/completions/svc", "svc.bash"),
    "zsh": (".local/share/zsh/site-functions/_svc", "_svc"),
    "fish": (".config/fish/completions/svc.fish", "svc.fish"),
    "powershell": ("My Documents/PowerShell/svc.ps1", "svc.ps1"),
}
PROFILE = "My Documents/PowerShell/profile.ps1"


@pytest.fixture(autouse=True)
def _fake_powershell(isolated: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """There is no PowerShell here: what stands for it tells the place that a person has chosen."""
    fake = isolated / "fake" / "pwsh"
    fake.parent.mkdir()
    fake.write_text(f"#!/bin/sh\nprintf '\\357\\273\\277%s\\r\\n' '{isolated / PROFILE}'\n")
    fake.chmod(0o755)
    monkeypatch.setenv("PATH", f"{fake.parent}:{os.environ['PATH']}")


@pytest.mark.parametrize("shell", PLACES)
def test_install_writes_the_file_once_and_says_where(svc: Svc, isolated: Path, shell: str) -> None:
    place, name = PLACES[shell]
    first = svc.ok("completion", shell, "--install")
    assert first["path"] == str(isolated / place)
    assert first["changed"]
    assert (isolated / place).read_bytes() == (SCRIPTS / name).read_bytes()
    before = (isolated / place).stat().st_ino
    told = svc("completion", shell, "--install", "-o", "human")
    assert told.out.startswith(f"Already up to date: {isolated / place}\n")
    assert (isolated / place).stat().st_ino == before


@pytest.mark.parametrize("shell", PLACES)
def test_uninstall_takes_away_what_install_put_there(svc: Svc, isolated: Path, shell: str) -> None:
    """A profile keeps the lines that are not ours; a second time nothing changes."""
    profile = isolated / PROFILE
    profile.parent.mkdir(parents=True)
    profile.write_text("Set-Alias a b\n")
    svc.ok("completion", shell, "--install")
    removed = svc("completion", shell, "--uninstall", "-o", "human")
    assert removed.out.startswith(f"Removed {isolated / PLACES[shell][0]}")
    assert ("In ~/.zshrc, the line that names" in removed.err) == (shell == "zsh")
    assert not (isolated / PLACES[shell][0]).exists()
    assert profile.read_text() == "Set-Alias a b\n"
    assert not svc.ok("completion", shell, "--uninstall")["changed"]


@pytest.mark.effect_of("completion", "--uninstall")
def test_uninstall_leaves_a_file_of_somebody_else(svc: Svc, isolated: Path) -> None:
    """Ours say so in their first line."""
    path = isolated / PLACES["fish"][0]
    path.parent.mkdir(parents=True)
    path.write_text("complete -c svc -f\n")
    assert svc("completion", "fish", "--uninstall").code == 10
    assert path.exists()


@pytest.mark.parametrize(
    ("shell", "variable", "place"),
    [
        ("bash", "BASH_COMPLETION_USER_DIR", "completions/svc"),
        ("bash", "XDG_DATA_HOME", "bash-completion/completions/svc"),
        ("zsh", "XDG_DATA_HOME", "zsh/site-functions/_svc"),
        ("fish", "XDG_CONFIG_HOME", "fish/completions/svc.fish"),
    ],
)
def test_the_shells_own_variables_are_heeded(
    svc: Svc, tmp_path: Path, shell: str, variable: str, place: str
) -> None:
    done = svc.ok("completion", shell, "--install", env={variable: str(tmp_path / "there")})
    assert done["path"] == str(tmp_path / "there" / place)


def test_an_older_script_of_ours_is_replaced(svc: Svc, isolated: Path) -> None:
    """As after an update of the program."""
    path = isolated / PLACES["fish"][0]
    path.parent.mkdir(parents=True)
    path.write_text("# svc completion for fish: an old one\n")
    assert svc.ok("completion", "fish", "--install")["changed"]
    assert path.read_bytes() == (SCRIPTS / "svc.fish").read_bytes()


@pytest.mark.effect_of("completion", "--force")
def test_a_file_of_somebody_else_needs_force(svc: Svc, isolated: Path) -> None:
    """R65: it is as it was, until --force says otherwise."""
    path = isolated / PLACES["bash"][0]
    path.parent.mkdir(parents=True)
    path.write_text("# mine\n")
    refused = svc("completion", "bash", "--install")
    assert (refused.code, path.read_text()) == (10, "# mine\n")
    assert "--force" in refused.error["message"]
    assert svc.ok("completion", "bash", "--install", "--force")["changed"]


@pytest.mark.parametrize("linked", ["file", "folder"])
def test_a_link_is_not_written_through(
    svc: Svc, isolated: Path, tmp_path: Path, linked: str
) -> None:
    """R65: neither the file nor its folder may be one."""
    path = isolated / PLACES["fish"][0]
    (tmp_path / "elsewhere").mkdir()
    link = path if linked == "file" else path.parent
    link.parent.mkdir(parents=True)
    target = tmp_path / "elsewhere" / ("file" if linked == "file" else "")
    link.symlink_to(target)
    refused = svc("completion", "fish", "--install")
    assert refused.code == 10
    assert "symbolic link" in refused.error["message"]
    assert list((tmp_path / "elsewhere").iterdir()) == []


def test_a_profile_of_powershell_keeps_what_it_says(svc: Svc, isolated: Path) -> None:
    """One line is added at its end, once; its rights stay."""
    profile = isolated / PROFILE
    profile.parent.mkdir(parents=True)
    profile.write_text("Set-Alias ll ls")
    profile.chmod(0o600)
    svc.ok("completion", "powershell", "--install")
    svc.ok("completion", "powershell", "--install")
    line = f". '{profile.with_name('svc.ps1')}'"
    assert profile.read_text() == f"Set-Alias ll ls\n{line}\n"
    assert stat.S_IMODE(profile.stat().st_mode) == 0o600


def test_a_profile_in_utf_16_is_left_as_it_is(svc: Svc, isolated: Path) -> None:
    """A line of bytes would spoil it: the line is told."""
    profile = isolated / PROFILE
    profile.parent.mkdir(parents=True)
    profile.write_bytes(b"\xff\xfea\x00")
    refused = svc("completion", "powershell", "--install")
    assert (refused.code, profile.read_bytes()) == (10, b"\xff\xfea\x00")
    assert f"Add this line: . '{profile.with_name('svc.ps1')}'" in refused.error["message"]


@pytest.mark.parametrize("said", ["", "echo not-a-path", "exit 3"])
def test_powershells_folder_is_asked_for_and_not_guessed(
    svc: Svc, isolated: Path, said: str
) -> None:
    """Where no PowerShell tells it, nothing is written; what does without is told."""
    fake = isolated / "fake" / "pwsh"
    fake.write_text(f"#!/bin/sh\n{said}\n")
    before = sorted(isolated.rglob("*"))
    refused = svc("completion", "powershell", "--install", env={"PATH": str(fake.parent)})
    fake.unlink()
    missing = svc("completion", "powershell", "--install", env={"PATH": str(fake.parent)})
    assert (refused.code, missing.code) == (10, 10)
    assert "does not say where its profile is" in refused.error["message"]
    assert "PowerShell is not in PATH. In PowerShell: svc completion" in missing.error["message"]
    assert sorted({*isolated.rglob("*"), fake}) == before


def test_zsh_is_told_what_its_settings_lack(svc: Svc, isolated: Path) -> None:
    """Only while neither FPATH nor .zshrc names the folder."""
    folder = isolated / ".local/share/zsh/site-functions"
    place = shlex.quote(str(folder / "_svc"))
    line = f"[[ ! -r {place} ]] || source {place}"
    assert line in svc("completion", "zsh", "--install", "-o", "human").out.splitlines()
    elsewhere = svc("completion", "zsh", "--install", "-o", "human", env={"ZDOTDIR": "/z"})
    assert "Put this line into /z/.zshrc:" in elsewhere.err
    told = svc("completion", "zsh", "--install", "-o", "human", env={"FPATH": f"/x:{folder}"})
    assert "source" not in told.out
    (isolated / ".zshrc").write_text(f"{line}\n")
    assert svc.ok("completion", "zsh", "--install")["line"] is None


def test_without_a_home_nothing_is_written(svc: Svc) -> None:
    refused = svc("completion", "fish", "--install", env={"HOME": ""})
    assert refused.code == 10
    assert "Set HOME" in refused.error["message"]


BASH_COMPLETION = Path("/usr/share/bash-completion/bash_completion")


@pytest.mark.skipif(not BASH_COMPLETION.exists(), reason="bash-completion is not installed")
def test_bash_finds_the_installed_script_by_itself(svc: Svc, isolated: Path) -> None:
    """The package bash-completion reads it at the first Tab."""
    svc.ok("completion", "bash", "--install")
    with ShellTerminal([program("bash"), "--norc", "--noprofile", "-i"], isolated) as terminal:
        terminal.type(f"source {BASH_COMPLETION}; svc ready\n")
        terminal.wait_for("ARGS<ready|>")
        assert terminal.run("svc orders list --output=nd\t") == [
            "orders",
            "list",
            "--output=ndjson",
        ]


COMPINIT = "autoload -Uz compinit; compinit -u"


@pytest.mark.parametrize(
    "lines",
    [
        pytest.param("{line}\n{compinit} -D", id="before"),
        pytest.param("{compinit} -D\n{line}", id="after", marks=pytest.mark.slow),
        pytest.param("{line}\n{compinit} -C", id="a dump of before", marks=pytest.mark.slow),
        pytest.param('eval "$(<{script})"\n{compinit} -D', id="eval", marks=pytest.mark.slow),
    ],
)
def test_zsh_finds_the_script_wherever_compinit_runs(svc: Svc, isolated: Path, lines: str) -> None:
    """The line that --install prints is all that is needed; so is what `svc completion` prints."""
    if "-C" in lines:  # which reads what was found when there was no svc
        subprocess.run(
            [program("zsh"), "--no-globalrcs", "-c", COMPINIT],
            env={"HOME": str(isolated)},
            check=True,
        )
    line = svc.ok("completion", "zsh", "--install")["line"]
    (isolated / ".zshrc").write_text(
        lines.format(line=line, compinit=COMPINIT, script=SCRIPTS / "_svc") + "\n"
    )
    with ShellTerminal([program("zsh"), "--no-globalrcs", "-i"], isolated) as terminal:
        terminal.type("svc ready\n")
        terminal.wait_for("ARGS<ready|>")
        assert terminal.run("svc ord\tret\tx") == ["orders", "retrieve", "x"]


@pytest.mark.effect_of("completion", "--install")
def test_fish_finds_the_installed_script_by_itself(svc: Svc, isolated: Path) -> None:
    svc.ok("completion", "fish", "--install")
    with ShellTerminal([program("fish"), "-i"], isolated) as terminal:
        terminal.type("svc ready\n")
        terminal.wait_for("ARGS<ready|>")
        assert terminal.run("svc ord\tret\tx") == ["orders", "retrieve", "x"]
