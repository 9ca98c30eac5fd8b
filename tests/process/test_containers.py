"""As in a container: a user without a name or a home, a disk that cannot be written, process 1."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from support.orders import CREATE_ORDER
from support.running import Sandbox, run_to_end

pytestmark = pytest.mark.smoke

NOBODY = "47110"  # no entry for it in passwd
# Who may read everything, as the files of an image are readable, and write nothing of it.
AS_NOBODY = (
    *("setpriv", "--reuid", NOBODY, "--regid", NOBODY, "--clear-groups"),
    *("--inh-caps=-all,+dac_read_search", "--ambient-caps=-all,+dac_read_search"),
)
# `docker run --read-only`: process 1, and nothing to be written anywhere.
READ_ONLY = (
    *("unshare", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc"),
    *("sh", "-euc", 'mount -o remount,bind,ro /; exec "$@"', "sh"),
)


def works(*command: str) -> bool:
    if shutil.which(command[0]) is None:
        return False
    return subprocess.run([*command, "true"], check=False, capture_output=True).returncode == 0


needs_setpriv = pytest.mark.skipif(not works(*AS_NOBODY), reason="only root may be another user")
needs_unshare = pytest.mark.skipif(
    not works(*READ_ONLY), reason="this machine lets nobody make namespaces"
)


def environment(**more: str) -> dict[str, str]:
    """What `docker run` gives beside what the test wants: no home and no folders of svc."""
    return {"PATH": os.environ["PATH"], **more}


def as_nobody(*argv: str, stdin: str = "", **env: str) -> "subprocess.CompletedProcess[str]":
    done = run_to_end(
        [*AS_NOBODY, sys.executable, "-m", "svc", *argv],
        input=stdin,
        env=environment(**env),
        cwd="/",
    )
    assert "Traceback" not in done.stderr
    assert "bug" not in done.stderr
    return done


def using(sandbox: Sandbox) -> dict[str, str]:
    return {"SVC_BASE_URL": sandbox.url, "SVC_API_KEY": "sk_test_sandbox"}


@needs_setpriv
@pytest.mark.parametrize(
    "argv",
    [
        ("commands",),
        *(
            pytest.param(argv, marks=pytest.mark.slow)
            for argv in (
                ("--version",),
                ("--help",),
                ("help", "ci"),
                ("orders", "create", "--help"),
            )
        ),
    ],
)
def test_what_needs_no_folder_works_without_a_home(argv: tuple[str, ...]) -> None:
    """Help and the tree of commands."""
    done = as_nobody(*argv)
    assert done.returncode == 0, done.stderr
    assert done.stdout


@needs_setpriv
def test_signature_is_verified_without_a_home() -> None:
    """A wrong one is told as such: nothing is looked for on the disk."""
    done = as_nobody(
        *("events", "verify", "--header", "t=1,v1=00", "--now", "1", "-o", "json"),
        stdin="{}",
        SVC_WEBHOOK_SECRET="whsec_00000000000000000000000000000000",
    )
    assert done.returncode == 11, done.stderr


@needs_setpriv
def test_orders_are_read_without_a_home_and_made_with_a_folder_for_state(
    sandbox: Sandbox, tmp_path: Path
) -> None:
    """Address and key come from the environment; a POST is recorded first, or not sent."""
    listed = as_nobody("orders", "list", "-o", "json", **using(sandbox))
    assert listed.returncode == 0, listed.stderr
    refused = as_nobody(*CREATE_ORDER, **using(sandbox))
    assert refused.returncode == 10
    message = json.loads(refused.stderr)["error"]["message"]
    assert "HOME" in message
    assert "SVC_STATE_DIR" in message
    assert [r["method"] for r in sandbox.control("GET", "/requests")["data"]] == ["GET"]

    volume = tmp_path / "volume"
    volume.mkdir()
    os.chown(volume, int(NOBODY), int(NOBODY))
    made = as_nobody(*CREATE_ORDER, "-o", "id", **using(sandbox), SVC_STATE_DIR=str(volume / "svc"))
    assert made.returncode == 0, made.stderr
    assert made.stdout.startswith("ord_")


@needs_setpriv
def test_what_needs_a_folder_names_the_variables() -> None:
    """Exit 10 and one line for a profile, a sandbox on disk, its status."""
    for argv, name in (
        (("profiles", "create", "shop", "--base-url", "https://shop.example"), "SVC_CONFIG_DIR"),
        (("sandbox", "start", "--port", "0"), "SVC_STATE_DIR"),
        (("sandbox", "status"), "SVC_STATE_DIR"),
        (("requests", "list"), "SVC_STATE_DIR"),
    ):
        done = as_nobody(*argv, SVC_BASE_URL="http://127.0.0.1:9", SVC_API_KEY="sk_test_sandbox")
        assert done.returncode == 10, (argv, done.stderr)
        assert f"HOME, or {name}" in done.stderr


@needs_unshare
@pytest.mark.parametrize(
    "home", [{}, pytest.param({"HOME": "/"}, marks=pytest.mark.slow)], ids=["no HOME", "HOME=/"]
)
def test_sandbox_in_memory_runs_where_nothing_can_be_written(home: dict[str, str]) -> None:
    """As process 1: it says what it does without, `sandbox env --port` finds it, SIGTERM ends it."""
    env = environment(**home)
    with subprocess.Popen(
        [
            *READ_ONLY,
            *(sys.executable, "-m", "svc", "sandbox", "start"),
            *("--db", ":memory:", "--port", "0", "-o", "ndjson"),
        ],
        env=env,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        try:
            assert process.stdout is not None
            line = process.stdout.readline()
            assert line, process.communicate()[1]
            ready = json.loads(line)
            assert (ready["profile"], ready["log"]) == (None, "")
            found = run_to_end(
                [sys.executable, "-m", "svc", "sandbox", "env", "--port", str(ready["port"])],
                env=environment(SVC_STATE_DIR="/proc/none", SVC_CONFIG_DIR="/proc/none"),
            )
            assert found.returncode == 0, found.stderr
            assert f"export SVC_BASE_URL={ready['url']}\n" in found.stdout
        finally:
            children = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
            for child in children:  # what is process 1 inside
                os.kill(int(child), 15)
            try:
                said = process.communicate(timeout=100)[1]
            except subprocess.TimeoutExpired:
                process.kill()
                raise
    assert "svc sandbox status, logs and stop will not know this sandbox" in said
    assert "Traceback" not in said
    assert process.returncode in (143, -15)
