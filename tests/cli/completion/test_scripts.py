"""The scripts that are checked in: what they hold, and that the program prints them."""

import re
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from cli.completion.terminal import ROOT, SCRIPTS
from support.running import Svc
from svc.completion import SHELLS


@pytest.mark.parametrize(("shell", "name"), SHELLS.items())
def test_completion_prints_the_checked_in_file(svc: Svc, shell: str, name: str) -> None:
    """Byte for byte, so that it can be redirected into a file."""
    result = svc("completion", shell)
    assert (result.code, result.err) == (0, "")
    assert result.out == (SCRIPTS / name).read_text(encoding="utf-8")


@pytest.mark.parametrize("name", SHELLS.values())
def test_no_script_starts_a_program(name: str) -> None:
    """Neither svc nor Python nor a tool: a Tab must not wait for a process."""
    code = [
        line
        for line in (SCRIPTS / name).read_text(encoding="utf-8").splitlines()
        if not line.lstrip().startswith("#")
    ]
    engine = "\n".join(line for line in code if "'" not in line)
    assert len(engine.splitlines()) > 20
    assert not re.search(r"(?m)^\s*(command |svc |python|cat |ls |sed |grep |awk )", engine)


def test_powershell_by_its_structure_only_not_run() -> None:
    """There is no PowerShell here: brackets close, strings end, each command has its table."""
    text = (SCRIPTS / "svc.ps1").read_text(encoding="utf-8")
    plain = re.sub(r"'(?:[^']|'')*'", "''", "\n".join(_without_comments(text)))
    plain = re.sub(r'"[^"\n]*"', '""', plain)
    open_brackets: list[str] = []
    pairs = {")": "(", "}": "{", "]": "["}
    for mark in plain:
        if mark in pairs.values():
            open_brackets.append(mark)
        elif mark in pairs:
            assert open_brackets.pop() == pairs[mark]
    assert open_brackets == []
    assert "'orders create' = @{" in text
    assert "Register-ArgumentCompleter -Native -CommandName svc" in text
    assert text.isascii()


def _without_comments(text: str) -> list[str]:
    return [line for line in text.splitlines() if not line.lstrip().startswith("#")]


@pytest.mark.slow
def test_an_installed_wheel_prints_the_scripts(tmp_path: Path) -> None:
    """They lie at the top of the project; the wheel carries them inside the package.

    Manual pages lie where an installer puts them for `man`.
    """
    build = [sys.executable, *"-m pip wheel -q --no-deps -w".split(), str(tmp_path), str(ROOT)]
    subprocess.run(build, check=True)
    (wheel,) = tmp_path.glob("svc_cli-*.whl")
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
        archive.extractall(tmp_path / "installed")
    assert {f"svc/completion/scripts/{name}" for name in SHELLS.values()} <= names
    assert any(name.endswith(".data/data/share/man/man1/svc-orders.1") for name in names)
    code = "import svc; from svc.completion import read_script; "
    code += "print(svc.__file__); print(read_script('zsh'), end='')"
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={"PYTHONPATH": str(tmp_path / "installed")},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    )
    where, _, printed = done.stdout.partition("\n")
    assert where.startswith(str(tmp_path))
    assert printed == (SCRIPTS / "_svc").read_text(encoding="utf-8")
