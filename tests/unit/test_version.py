"""The version tells one build from another: by the commits, by a tag, by what was noted.

And how it is printed, before the command line is there.
"""

import errno
import io
import shutil
import subprocess
import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import SimpleNamespace

import pytest

import svc
from svc import start
from svc.cli.framework import requirements
from svc.errors import LocalError

ROOT = Path(svc.__file__).parents[2]
MAKER = ROOT / ".build" / "version.py"

pytestmark = pytest.mark.skipif(not MAKER.exists(), reason="an installed package is not a checkout")


def version_of(folder: Path, maker: Path = MAKER) -> str:
    spec = spec_from_file_location("version_maker", maker)
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return str(module.version_of(folder))


def git(folder: Path, *words: str) -> str:
    identity = ["-c", "user.name=a", "-c", "user.email=a@example.com"]
    done = subprocess.run(
        ["git", *identity, *words], cwd=folder, capture_output=True, text=True, check=True
    )
    return done.stdout.strip()


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project of two commits."""
    folder = tmp_path / "project"
    (folder / "src" / "svc").mkdir(parents=True)
    (folder / "src" / "svc" / "__init__.py").write_text('RELEASE = "1.2.3"\n')
    git(tmp_path, "init", "-q", str(folder))
    git(folder, "add", ".")
    git(folder, "commit", "-qm", "first")
    git(folder, "commit", "-qm", "second", "--allow-empty")
    return folder


def test_each_commit_has_a_version_above_the_one_before(project: Path) -> None:
    """Installers that compare versions see that something is new."""
    assert version_of(project) == f"1.2.3+2.g{git(project, 'rev-parse', '--short=7', 'HEAD')}"
    for _ in range(8):
        git(project, "commit", "-qm", "more", "--allow-empty")
    assert version_of(project).startswith("1.2.3+10.g")  # above 1.2.3+9: numbers, not text


def test_tagged_commit_is_the_release(project: Path) -> None:
    """With a change on top it no longer is."""
    git(project, "tag", "v1.2.3")
    assert version_of(project) == "1.2.3"
    (project / "src" / "svc" / "__init__.py").write_text('RELEASE = "1.2.3"\n# more\n')
    assert version_of(project).endswith(".changed")


def test_shallow_clone_counts_nothing(project: Path, tmp_path: Path) -> None:
    """It has not all commits: a wrong count would be worse than none."""
    git(tmp_path, "clone", "-q", "--depth", "1", f"file://{project}", "shallow")
    assert (
        version_of(tmp_path / "shallow")
        == f"1.2.3+g{git(project, 'rev-parse', '--short=7', 'HEAD')}"
    )


def test_source_distribution_keeps_what_it_was_made_with(project: Path) -> None:
    """There is no git in it, or somebody else's."""
    (project / "PKG-INFO").write_text("Metadata-Version: 2.4\nVersion: 1.2.3+7.gabc1234\n\ntext\n")
    assert version_of(project) == "1.2.3+7.gabc1234"


def test_archive_inside_another_repository_is_not_its_commit(project: Path) -> None:
    """Unpacked without its history, it is not said to be the release."""
    inner = project / "vendor" / "svc-cli"
    (inner / "src" / "svc").mkdir(parents=True)
    (inner / "src" / "svc" / "__init__.py").write_text('RELEASE = "1.0.0"\n')
    assert version_of(inner) == "1.0.0+unknown"


def test_an_archive_knows_its_commit_and_its_tag(project: Path, tmp_path: Path) -> None:
    """As a host of repositories gives it to people without git."""
    (project / ".build").mkdir()
    shutil.copy(MAKER, project / ".build")
    shutil.copy(ROOT / ".gitattributes", project)
    git(project, "add", ".")
    git(project, "commit", "-qm", "third")

    def unpack(name: str) -> str:
        folder = tmp_path / name
        folder.mkdir()
        git(project, "archive", "-o", str(folder / "a.tar"), "HEAD")
        subprocess.run(["tar", "xf", "a.tar"], cwd=folder, check=True)
        return version_of(folder, folder / ".build" / "version.py")

    assert unpack("untagged") == f"1.2.3+g{git(project, 'rev-parse', '--short=7', 'HEAD')}"
    git(project, "tag", "v1.2.3")
    assert unpack("tagged") == "1.2.3"


def test_sources_that_were_not_built_say_so_and_name_their_commit(project: Path) -> None:
    """An editable installation runs what lies there now: after a pull it is something new."""
    assert svc.__version__.startswith(f"{svc.RELEASE}+source")
    package = project / "src" / "svc"
    shutil.copy(str(svc.__file__), package)

    def imported() -> str:
        spec = spec_from_file_location(
            "a_checkout", package / "__init__.py", submodule_search_locations=[str(package)]
        )
        assert spec is not None
        assert spec.loader is not None
        module = module_from_spec(spec)
        spec.loader.exec_module(module)
        return str(module.__version__)

    for _ in range(2):
        git(project, "commit", "-qm", "more", "--allow-empty")
        commit = git(project, "rev-parse", "--short=7", "HEAD")
        assert imported() == f"{svc.RELEASE}+source.g{commit}"
    shutil.rmtree(project / ".git")
    assert imported() == f"{svc.RELEASE}+source"


@pytest.mark.parametrize(
    ("error", "code", "said"),
    [
        (None, 0, ""),
        (BrokenPipeError(errno.EPIPE, "Broken pipe"), 141, ""),
        (OSError(errno.ENOSPC, "No space"), 10, "Error: the result could not be written.\n"),
        (ValueError("closed"), 10, "Error: the result could not be written.\n"),
    ],
)
def test_a_version_that_cannot_be_written_has_an_exit_code(
    monkeypatch: pytest.MonkeyPatch, error: Exception | None, code: int, said: str
) -> None:
    """R77: also where there is no stderr to say it on."""
    written = []

    def write(line: bytes) -> None:
        written.append(line)
        if error is not None:
            raise error

    out = SimpleNamespace(buffer=SimpleNamespace(write=write), flush=lambda: written.append(b""))
    for told in (io.StringIO(), None):
        monkeypatch.setattr(sys, "stdout", out)
        monkeypatch.setattr(sys, "stderr", told)
        assert start._write_line(b"svc 1") == code
        assert told is None or told.getvalue() == said
    assert written == [b"svc 1", b""][: 1 + (error is None)] * 2


@pytest.mark.parametrize(
    ("unmet", "code", "said"),
    [
        (None, 1, "svc could not go on (KeyError). What was sent: svc requests list"),
        (
            LocalError("lib-a is missing.", hint="pip install lib-a"),
            10,
            "  Next: pip install lib-a",
        ),
    ],
)
def test_what_cannot_go_on_says_so_in_a_line(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    unmet: LocalError | None,
    code: int,
    said: str,
) -> None:
    """R79: first of all whether a library is what is wrong."""
    monkeypatch.setattr(requirements, "find_unmet", lambda: unmet)
    assert start._report_lost(KeyError("x")) == code
    told = capsys.readouterr().err
    assert told.startswith("Error: ")
    assert told.splitlines()[-1].removeprefix("Error: ") == said
