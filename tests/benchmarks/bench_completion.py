"""A Tab in bash for a resource, a verb and an option, beside gh's, in one and the same shell.

    python tests/benchmarks/bench_completion.py [RUNS]

Timed inside bash, by its own clock, around the completion function that readline would call: what
is left of a Tab is readline's. `gh` is found on PATH; if it is missing that is said. Nothing is
installed.
"""

import os
import shutil
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

from benchmarks.command import ROOT, parser

LIMIT_MS = 5.0

# What is typed, as readline parts it; the last word is the one at the cursor.
SVC_TABS = {
    "resource": ("svc", "ord"),
    "verb": ("svc", "orders", "ret"),
    "option": ("svc", "orders", "create", "--cur"),
    "value of 180": ("svc", "orders", "create", "--currency", "E"),
    "id of 200": ("svc", "orders", "retrieve", "ord_"),
}
GH_TABS = {
    "resource": ("gh", "iss"),
    "verb": ("gh", "issue", "li"),
    "option": ("gh", "issue", "create", "--ti"),
}

_TAB = """
tab() {{
  local name=$1 call=$2 from to; shift 2
  COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); COMP_LINE="$*"; COMP_POINT=${{#COMP_LINE}}
  COMPREPLY=()
  from=$EPOCHREALTIME
  "$call" "$1" "${{COMP_WORDS[COMP_CWORD]}}" "${{COMP_WORDS[COMP_CWORD-1]}}" 2>/dev/null
  to=$EPOCHREALTIME
  echo "$name|$((${{to/[.,]/}} - ${{from/[.,]/}}))|${{#COMPREPLY[@]}}"
}}
nothing() {{ COMPREPLY=(x); }}
from=$EPOCHREALTIME; source {script}; to=$EPOCHREALTIME
echo "svc: source once|$((${{to/[.,]/}} - ${{from/[.,]/}}))|1"
{rest}
"""


def shell_script(folder: Path, runs: int, gh: str | None) -> str:
    """The whole measurement as one bash script; the tabs take turns."""
    rest = []
    if gh:
        made = subprocess.run([gh, "completion", "-s", "bash"], capture_output=True, check=True)
        (folder / "gh.bash").write_bytes(made.stdout)
        rest += ["source /usr/share/bash-completion/bash_completion", f"source {folder}/gh.bash"]
    rest.append(f"for ((run = 0; run < {runs}; run++)); do")
    rest += [f"tab 'svc: {name}' _svc {' '.join(words)}" for name, words in SVC_TABS.items()]
    if gh:
        rest += [
            f"tab 'gh: {name}' __start_gh {' '.join(words)}" for name, words in GH_TABS.items()
        ]
    rest += ["tab 'floor: nothing' nothing x y", "done"]
    return _TAB.format(script=ROOT / "completions" / "svc.bash", rest="\n".join(rest))


def measure(runs: int, gh: str | None) -> dict[str, list[float]]:
    """Milliseconds of each kind of Tab."""
    times: dict[str, list[float]] = {}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        recent = folder / "cache" / "recent" / "default.test.tsv"
        recent.parent.mkdir(parents=True)
        lines = (f"ord_{number:024}\torder\t157.08 EUR paid\n" for number in range(200))
        recent.write_text("# https://api.example.com\n" + "".join(lines))
        env = {"PATH": os.environ["PATH"], "HOME": name, "SVC_CACHE_DIR": str(folder / "cache")}
        script = shell_script(folder, runs, gh)
        done = subprocess.run(
            ["bash", "--norc", "-c", script], env=env, capture_output=True, text=True, check=True
        )
    for line in done.stdout.splitlines():
        title, microseconds, found = line.split("|")
        if int(found) == 0:
            sys.exit(f"{title} found nothing")
        times.setdefault(title, []).append(int(microseconds) / 1000)
    return times


def main() -> None:
    """Prints the table; exits 1 where a Tab is slower than the target."""
    command = parser(__doc__)
    command.add_argument("runs", nargs="?", type=int, default=50)
    runs = command.parse_args().runs
    gh = shutil.which("gh")
    bash_completion = Path("/usr/share/bash-completion/bash_completion").exists()
    if not gh or not bash_completion:
        print("gh or bash-completion was not found: no ratio against it")
        gh = None
    times = measure(runs, gh)
    medians = {title: statistics.median(found) for title, found in times.items()}
    for title, median in medians.items():
        theirs = medians.get(title.replace("svc:", "gh:"))
        ratio = f"   svc / gh = {median / theirs:.3f}" if theirs and title[:3] == "svc" else ""
        print(f"  {title:20} {median:8.2f} ms{ratio}")
    slow = [name for name in ("resource", "verb", "option") if medians[f"svc: {name}"] >= LIMIT_MS]
    sys.exit(f"slower than {LIMIT_MS} ms: {slow}" if slow else 0)


if __name__ == "__main__":
    main()
