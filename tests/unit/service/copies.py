"""A copy of the program, to be edited: how a change of one statement is tried."""

import os
import subprocess
import sys
from pathlib import Path
from shutil import copytree, ignore_patterns

import svc


class Copy:
    """A copy of the program below a folder, which is its home as well."""

    def __init__(self, folder: Path) -> None:
        self.home = folder
        self.tree = folder / "src/svc"
        copytree(Path(svc.__file__).parent, self.tree, ignore=ignore_patterns("__pycache__"))

    def replace(self, path: str, old: str, new: str) -> None:
        """Puts a text in the place of one that a file has once."""
        file = self.tree / path
        text = file.read_text(encoding="utf-8")
        assert text.count(old) == 1, (path, old, text.count(old))
        file.write_text(text.replace(old, new), encoding="utf-8")

    def remove(self, path: str, start: str, end: str) -> None:
        """Takes away a statement that begins and ends so."""
        text = (self.tree / path).read_text(encoding="utf-8")
        begin = text.index(start)
        self.replace(path, text[begin : text.index(end, begin) + len(end)], "")

    def python(self, *words: str) -> str:
        """What Python prints with the copy as the program."""
        env = {name: text for name, text in os.environ.items() if not name.startswith("SVC_")}
        env |= {"PYTHONPATH": str(self.tree.parent), "HOME": str(self.home), "COLUMNS": "100"}
        env |= {"SVC_API_KEY": "sk_test_sandbox", "SVC_BASE_URL": "http://127.0.0.1:9"}
        done = subprocess.run(
            [sys.executable, *words],
            cwd=self.home,
            env=env,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr + done.stdout
        return done.stdout

    def svc(self, line: str) -> str:
        """What the copy prints for a command line of plain words."""
        return self.python("-m", "svc", *line.split())
