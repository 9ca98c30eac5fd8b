"""svc as one archive, which a Python without it runs."""

import os
import subprocess
import sys
import sysconfig
import zipapp
from pathlib import Path

import pytest

import svc
from support.running import run_to_end


def archive(folder: Path) -> Path:
    """As shiv and pex have it: a bootstrap that knows where the packages are."""
    source = folder / "source"
    source.mkdir()
    paths = [str(Path(str(svc.__file__)).parents[1]), sysconfig.get_path("purelib")]
    (source / "__main__.py").write_text(
        f"import sys\nsys.path[1:1] = {paths!r}\nfrom svc.__main__ import main\nmain()\n"
    )
    made = folder / "svc.pyz"
    zipapp.create_archive(source, made)
    return made


@pytest.mark.slow(seconds=3)
def test_an_archive_starts_itself_again(tmp_path: Path) -> None:
    """A sandbox, a listener and the commands of a quickstart."""
    bare = Path(sys.base_prefix) / "bin" / f"python3.{sys.version_info.minor}"
    done = run_to_end(
        [bare, "-I", archive(tmp_path), "quickstart", "-o", "json"],
        env={**os.environ, "VIRTUAL_ENV": ""},
        stdin=subprocess.DEVNULL,
    )
    assert done.returncode == 0, done.stderr
