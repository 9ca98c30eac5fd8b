"""A copy of the tree in which a change may be tried: what `mutants.py` and `breaks.py` share."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parents[2]
PYTEST: Final = ("-m", "pytest", "-q", "-p", "no:randomly", "-p", "no:cacheprovider")


class TreeCopy:
    """A copy of the tree with an interpreter of its own, so that its processes run the copy too."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.python = folder / ".venv/bin/python"

    def prepare(self) -> None:
        """Copies what is under version control as it stands here."""
        listed = subprocess.run(
            ["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True
        )
        self.folder.mkdir(parents=True, exist_ok=True)
        self.folder.chmod(0o711)  # some tests run the program as another user, who has to get in
        for name in filter(None, listed.stdout.decode().split("\0")):
            target = self.folder / name
            target.parent.mkdir(parents=True, exist_ok=True)
            if (ROOT / name).is_file():
                target.write_bytes((ROOT / name).read_bytes())
        command = [sys.executable, "-m", "venv", "--without-pip", str(self.folder / ".venv")]
        subprocess.run(command, check=True)
        (packages,) = self.folder.glob(".venv/lib/python*/site-packages")
        theirs = next(path for path in sys.path if path.endswith("site-packages"))
        (packages / "copy.pth").write_text(f"{self.folder}/src\n{theirs}\n", encoding="utf-8")
        program = self.folder / ".venv/bin/svc"
        start = "from svc.__main__ import main\nraise SystemExit(main())\n"
        program.write_text(f"#!{self.python}\n{start}", encoding="utf-8")
        program.chmod(0o755)
        for tool in Path(sys.executable).parent.iterdir():  # a log's server, for one
            ours = self.folder / ".venv/bin" / tool.name
            if not ours.exists():
                ours.symlink_to(tool)
        # Runs keep nothing that they compile: without this each process would compile it all anew.
        compiling = [str(self.python), "-m", "compileall", "-q", "src", "tests/support"]
        subprocess.run(compiling, cwd=self.folder, check=True)

    def pytest(self, *arguments: str, seconds: float | None = None) -> int:
        """Runs tests in the copy; a negative code is a run that took too long."""
        environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}
        command = [str(self.python), *PYTEST, *arguments]
        with (self.folder / "last.txt").open("wb") as out:
            process = subprocess.Popen(
                command,
                cwd=self.folder,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
            try:
                return process.wait(seconds)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, 9)
                process.wait()
                return -1
