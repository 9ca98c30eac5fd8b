"""What is suggested to people begins with the name by which svc was called."""

import os
import shlex
import subprocess
import sys
import sysconfig
import venv
from pathlib import Path

import pytest

import svc
from support.running import Result

PROGRAM = f"#!{sys.executable}\nfrom svc.__main__ import main\n\nmain()\n"
START = ("sandbox", "start", "--detach", "--port", "0", "-o", "human")


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    """A folder with the program in it, as an installation into `.venv/bin` leaves it."""
    program = tmp_path / ".venv" / "bin" / "svc"
    program.parent.mkdir(parents=True)
    program.write_text(PROGRAM, encoding="utf-8")
    program.chmod(0o755)
    return tmp_path


def typed(shop: Path, *argv: str, path: str = os.defpath, called: str = ".venv/bin/svc") -> Result:
    """Runs the program as a shell in that folder would."""
    done = subprocess.run(
        [called, *argv],
        cwd=shop,
        env={**os.environ, "PATH": path},
        capture_output=True,
        check=False,
        text=True,
    )
    return Result(done.returncode, done.stdout, done.stderr)


def test_what_an_error_suggests_can_be_typed(shop: Path) -> None:
    """The second step works as it stands, where `svc` alone is not found."""
    said = typed(shop, "listen", "-o", "human")
    assert said.err.splitlines() == [
        "Error: No such command 'listen'. Did you mean '.venv/bin/svc events listen'?",
        "  Next: .venv/bin/svc events listen -o human",
    ]
    assert "  Next: What there is: .venv/bin/svc --help\n" in typed(shop, "x", "-o", "human").err


@pytest.mark.slow(seconds=1)
def test_a_name_that_the_shell_finds_is_enough(shop: Path) -> None:
    """However it was called, when the very program is on PATH."""
    found = f"{shop}/.venv/bin{os.pathsep}{os.defpath}"
    for called in (".venv/bin/svc", f"{shop}/.venv/bin/svc"):
        said = typed(shop, "listen", "-o", "human", path=found, called=called)
        assert "Next: svc events listen -o human\n" in said.err


@pytest.mark.slow(seconds=1)
def test_another_program_of_that_name_on_path_is_not_suggested(shop: Path, tmp_path: Path) -> None:
    """The path leads to the one that was called."""
    other = tmp_path / "other" / "svc"
    other.parent.mkdir()
    other.write_text("#!/bin/sh\n", encoding="utf-8")
    other.chmod(0o755)
    said = typed(shop, "listen", "-o", "human", path=f"{other.parent}{os.pathsep}{os.defpath}")
    assert "Next: .venv/bin/svc events listen -o human\n" in said.err


def test_programs_read_the_plain_name(shop: Path) -> None:
    """What is read by a script is the same wherever it is installed."""
    assert "Next: svc events listen" in typed(shop, "listen").error["message"]
    examples = [
        line for each in typed(shop, "commands").json["commands"] for line in each["examples"]
    ]
    assert any(line.startswith("svc orders create ") for line in examples)
    assert not [line for line in examples if ".venv" in line]


@pytest.mark.parametrize(
    ("argv", "line"),
    [
        (("--help",), "  .venv/bin/svc orders create --help"),
        (("keys", "list", "-o", "human"), "Add one: .venv/bin/svc keys add"),
        *(
            pytest.param(argv, line, marks=pytest.mark.slow)
            for argv, line in (
                (("orders", "--help"), "For one of them: .venv/bin/svc orders COMMAND --help"),
                (("payments", "retrieve", "--help"), "  .venv/bin/svc payments retrieve pay_"),
                (("help", "sandbox"), '  eval "$(.venv/bin/svc sandbox env)"'),
                (("doctor", "-o", "human"), "Install it: .venv/bin/svc completion bash --install"),
            )
        ),
    ],
)
def test_examples_and_remedies_can_be_typed(
    shop: Path, monkeypatch: pytest.MonkeyPatch, argv: tuple[str, ...], line: str
) -> None:
    """Help, topics, hints and the check-up's remedies."""
    monkeypatch.setenv("SHELL", "/bin/bash")
    said = typed(shop, *argv)
    assert line in said.out + said.err


@pytest.mark.slow(seconds=1)
def test_what_a_started_sandbox_suggests_can_be_typed(shop: Path) -> None:
    """The README's second step, by the path of its first."""
    started = typed(shop, *START)
    stopped = typed(shop, "sandbox", "stop")
    assert "; .venv/bin/svc sandbox stop ends it)\n" in started.out
    assert started.out.endswith("\nNext: .venv/bin/svc orders list\n")
    assert stopped.code == 0


@pytest.mark.slow(seconds=2)
def test_an_environment_whose_path_has_blanks_serves_as_any_other(tmp_path: Path) -> None:
    """As pipx has it on macOS: it starts what it starts, and what it suggests can be typed."""
    folder = tmp_path / "Application Support" / "it's svc"
    venv.create(folder, symlinks=True)
    libraries = f"{Path(str(svc.__file__)).parents[1]}\n{sysconfig.get_path('purelib')}\n"
    Path(sysconfig.get_path("purelib", vars={"base": str(folder)}), "svc.pth").write_text(libraries)
    program = folder / "bin" / "svc"
    # What pip writes for such a path.
    begins = f"#!/bin/sh\n'''exec' \"{folder}/bin/python\" \"$0\" \"$@\"\n' '''\n"
    program.write_text(begins + PROGRAM.partition("\n")[2])
    program.chmod(0o755)
    started = typed(tmp_path, *START, called=str(program))
    suggested = started.out.rpartition("\nNext: ")[2]
    listed = subprocess.run(["bash", "-c", suggested], capture_output=True, check=False)
    stopped = typed(tmp_path, "sandbox", "stop", called=str(program))
    assert suggested.startswith(shlex.quote(str(program)))
    assert (started.code, listed.returncode, stopped.code) == (0, 0, 0), (started, listed)


@pytest.mark.slow(seconds=1)
def test_a_script_has_one_name_for_the_program(shop: Path) -> None:
    """The plain one, since it is kept and run elsewhere: crontabs, a CI's commands, variables."""
    assert "0 9 * * 1  svc keys remind" in typed(shop, "help", "reminders").out
    assert ".venv" not in typed(shop, "help", "ci").out
    lines = typed(shop, "help", "output").out.splitlines()
    (begins,) = [number for number, line in enumerate(lines) if "order=$(svc " in line]
    assert [line[:6] for line in lines[begins + 1 : begins + 3]] == ["  svc "] * 2
