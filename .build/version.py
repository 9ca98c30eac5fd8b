"""The version that a build gets: the release, and how many commits it has come since.

`0.1.0` where a tag `v0.1.0` is checked out, else `0.1.0+321.g1a2b3c4`, with `.changed` where files
differ from what is committed. An archive that git or its host has made says the commit itself, and
sources of which nothing is known are `0.1.0+unknown`; in a source distribution it is what was noted
when that was made.
"""

import re
import subprocess
from email.parser import HeaderParser
from pathlib import Path

ARCHIVED = "$Format:%h %D$"  # in an archive git puts the commit here, and its names


def version_of(root: Path) -> str:
    """The version of the sources in a folder."""
    noted = root / "PKG-INFO"
    if noted.exists():
        return HeaderParser().parsestr(noted.read_text(encoding="utf-8"))["Version"]
    release = re.search(
        r'^RELEASE = "(.+)"$',
        (root / "src/svc/__init__.py").read_text(encoding="utf-8"),
        re.MULTILINE,
    )[1]
    if Path(_git(root, "rev-parse", "--show-toplevel") or "/") != root.resolve():
        # No git, or a folder inside somebody else's repository.
        return _version_of_archive(release, ARCHIVED)
    commit = _git(root, "rev-parse", "--short=7", "HEAD")
    changed = bool(_git(root, "status", "--porcelain", "--untracked-files=no"))
    if not commit or (
        f"v{release}" in _git(root, "tag", "--points-at", "HEAD").split() and not changed
    ):
        return release
    shallow = _git(root, "rev-parse", "--is-shallow-repository") == "true"  # it has not all commits
    count = [] if shallow else [_git(root, "rev-list", "--count", "HEAD")]
    return f"{release}+{'.'.join([*count, f'g{commit}', *['changed'] * changed])}"


def _version_of_archive(release: str, noted: str) -> str:
    commit, _, names = noted.partition(" ")
    if f"tag: v{release}" in names.split(", "):
        return release
    return f"{release}+unknown" if commit.startswith("$") else f"{release}+g{commit[:7]}"


def _git(root: Path, *words: str) -> str:
    try:
        done = subprocess.run(
            ["git", "-C", str(root), *words], capture_output=True, text=True, check=False
        )
    except OSError:
        return ""
    return done.stdout.strip() if done.returncode == 0 else ""


def built_version() -> str:
    """The version of the project that this file belongs to."""
    return version_of(Path(__file__).parent.parent)
