"""Twelve webhook handlers in Python, Node and shell, and the README's, are examined."""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import pytest

from support.running import Result, Svc
from support.serving import QuietHandler, answers, free_port, serving
from support.suite.patience import until

HANDLERS: Final = Path(__file__).with_name("handlers")
SECRET: Final = "whsec_" + "a" * 32
CHECK: Final = "cat shop.txt paid.txt 2>/dev/null | grep -v ^seen || true"
README: Final = "../../integration/examples/handler.py"
# Seconds in which an effect shows, on a machine that is busy.
SETTLE: Final = {
    ".py": "0.4",
    ".mjs": "0.4",
    ".sh": "0.4",
    ("handler.py", "200 before it is saved"): "0.8",
}
# The rule that each fault breaks; none of two without a fault, and of one that is only advised.
RULES: Final = {
    (README, ""): None,
    ("handler.py", ""): None,
    ("handler.py", "no age"): "old signature",
    ("handler.py", "fulfilment twice"): "same event twice",
    ("handler.py", "race"): "twice at once",
    ("handler.py", "200 before it is saved"): "saved first",
    ("handler.mjs", ""): None,
    ("handler.mjs", "compared in plain"): None,
    ("handler.mjs", "written again"): "unusual bytes",
    ("handler.mjs", "crash"): "unknown type",
    ("handler.mjs", "slow"): "valid event",
    ("handler.sh", "no check of the signature"): "wrong signature",
    ("handler.sh", "wrong order"): "wrong order",
}


@contextmanager
def serving_script(folder: Path, fault: str) -> Iterator[str]:
    """A web server that has the script handle each delivery."""

    class ScriptGateway(QuietHandler):
        def post(self) -> None:
            done = subprocess.run(
                ["sh", str(HANDLERS / "handler.sh"), fault],
                env={**os.environ, "HTTP_SVC_SIGNATURE": self.headers.get("Svc-Signature", "")},
                input=self.body(),
                cwd=folder,
                capture_output=True,
                check=False,
            )
            assert done.returncode == 0, done.stderr
            self.answer(int(done.stdout.split()[1]))

    with serving(ScriptGateway) as url:
        yield url


@contextmanager
def running(name: str, fault: str, folder: Path) -> Iterator[str]:
    """The address of a handler while it runs in a folder of its own."""
    if name == "handler.sh":
        with serving_script(folder, fault) as url:
            yield url
        return
    port, program = free_port(), "node" if name == "handler.mjs" else sys.executable
    command, env = [program, str(HANDLERS / name), str(port), fault], {"PORT": str(port)}
    with subprocess.Popen(
        command, cwd=folder, env={**os.environ, **env}, stderr=subprocess.DEVNULL
    ) as process:
        try:
            until(lambda: answers(port))
            yield f"http://127.0.0.1:{port}"
        finally:
            process.kill()


def examine(svc: Svc, name: str, fault: str, folder: Path) -> Result:
    folder.mkdir()
    (folder / "shop.txt").touch()
    with running(name, fault, folder) as url:
        check = f"cd '{folder}'; {CHECK}"
        settle = SETTLE.get((name, fault), SETTLE[Path(name).suffix])
        timeout = "2" if fault == "slow" else "10"
        words = ("--check", check, "--settle", settle, "--forward-timeout", timeout, "-o", "json")
        return svc("events", "examine", "--forward-to", url, *words)


@pytest.mark.slow(seconds=15)
@pytest.mark.skipif(not shutil.which("node") or not shutil.which("openssl"), reason="needs both")
def test_each_fault_is_named_by_its_own_rule(
    svc: Svc, isolated: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two without a fault pass, and so does one whose fault only a reader of the code can see."""
    monkeypatch.setenv("SVC_WEBHOOK_SECRET", SECRET)
    with ThreadPoolExecutor(len(RULES)) as pool:
        begun = {
            each: pool.submit(examine, svc, *each, tmp_path / f"shop-{number}")
            for number, each in enumerate(RULES)
        }
    for each, rule in RULES.items():
        done = begun[each].result()
        verdicts = {one["name"]: one for one in done.json["rules"]}
        failed = [name for name, one in verdicts.items() if one["status"] == "failed"]
        assert failed == ([] if rule is None else [rule]), (each, verdicts)
        assert done.code == (0 if rule is None else 11), each
        assert verdicts["constant time"]["status"] == "advice"
        # The README's keeps no state of payments, whose order is unknown then.
        assert rule or done.json["unknown"] == (each[0] == README), each
