"""A sandbox whose file lies on a disk that is really full, and has room again."""

import json
import re
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from datetime import datetime
from itertools import pairwise
from pathlib import Path
from typing import Any, Final

import pytest

from support.running import ask
from support.serving import HookReceiver
from svc.service.facts import WEBHOOK_RETRY_DELAYS, WEBHOOK_RETRY_INTERVAL

# The disk is seen by the sandbox alone, and goes with it.
OWN_DISK: Final = (
    *("unshare", "--mount", "sh", "-euc"),
    'mount -t tmpfs -o size=32m tmpfs "$0"; exec "$@"',
)
EVENTS: Final = 12
ROOM: Final = 400 * 1024  # bytes, in which some attempts can still be noted


def stamp(text: str) -> int:
    return int(datetime.fromisoformat(text).timestamp())


def list_steps(moments: list[int]) -> list[int]:
    """The seconds between moments, of which the newest is the first."""
    return [later - earlier for later, earlier in pairwise(moments)][::-1]


def works() -> bool:
    if shutil.which("unshare") is None:
        return False
    return subprocess.run([*OWN_DISK, "/mnt", "true"], check=False).returncode == 0


pytestmark = pytest.mark.skipif(not works(), reason="this machine lets nobody make disks")


class OnOwnDisk:
    """The sandbox, called over HTTP; `disk` is its folder as it sees it."""

    def __init__(self, folder: Path) -> None:
        start = ("sandbox", "start", "--db", str(folder / "s.db"), "--port", "0", "-o", "ndjson")
        self.process = subprocess.Popen(
            [*OWN_DISK, str(folder), sys.executable, "-m", "svc", *start],
            stdout=subprocess.PIPE,
            text=True,
        )
        assert self.process.stdout is not None
        self._port: int = json.loads(self.process.stdout.readline())["port"]
        self.disk = Path(f"/proc/{self.process.pid}/root{folder}")

    def call(self, path: str, body: Any = None) -> tuple[int, Any]:
        method = "GET" if body is None else "POST"
        status, told = ask(self._port, method, path, body, **{"Svc-Sandbox": "1"})
        return status, json.loads(told)

    def now(self) -> str:
        return str(self.call("/_sandbox/clock")[1]["now"])

    def fill(self, *, but: int) -> None:
        """Fills the disk, but for some bytes."""
        with (self.disk / "filling").open("wb", buffering=0) as file:
            while True:
                try:
                    file.write(bytes(65536))
                except OSError:
                    break
            file.truncate(file.tell() - but)

    def attempts(self) -> list[Any]:
        """Those in the log that were made, newest first."""
        found: list[Any] = []
        while True:
            after = f"&starting_after={found[-1]['id']}" if found else ""
            page = self.call(f"/_sandbox/deliveries?limit=100{after}")[1]
            found += page["data"]
            if not page["has_more"]:
                return [each for each in found if each["started_at"]]


@pytest.fixture
def sandbox(tmp_path: Path) -> Iterator[OnOwnDisk]:
    folder = tmp_path / "disk"
    folder.mkdir()
    made = OnOwnDisk(folder)
    with made.process:
        yield made
        made.process.terminate()


def begin(sandbox: OnOwnDisk, url: str) -> None:
    """Has the first attempts of some events fail, so that many more are to be made."""
    for path, body in (
        ("/v1/webhook_endpoints", {"url": url, "events": ["order.cancelled"]}),
        ("/_sandbox/clock", {"mode": "frozen"}),
        *(("/_sandbox/events/trigger", {"type": "order.cancelled"}),) * EVENTS,
        ("/_sandbox/clock/advance", {"seconds": 0}),
    ):
        assert sandbox.call(path, body)[0] == 200


def test_advance_on_a_full_disk_loses_no_attempt(sandbox: OnOwnDisk) -> None:
    """It ends where nothing more is saved, says so, and goes on from there with room again.

    None is sent twice but those whose answers could not be saved, and each is made at its moment.
    """
    day = {"seconds": 24 * 3600}
    with HookReceiver(status=500).listening() as receiver:
        begin(sandbox, receiver.url)
        begun = sandbox.now()
        sandbox.fill(but=ROOM)
        refusal = sandbox.call("/_sandbox/clock/advance", day)[1]
        stands = sandbox.now()
        assert refusal["code"] == "storage_full"
        assert f"The clock stands at {stands}; " in refusal["message"]
        assert begun < stands
        noted = sandbox.attempts()
        assert max(each["started_at"] for each in noted) <= stands
        (sandbox.disk / "filling").unlink()
        assert sandbox.call("/_sandbox/clock/advance", day)[0] == 200
    made = sandbox.attempts()
    sent = Counter(hook.headers["svc-delivery-id"] for hook in receiver.hooks)
    assert set(sent) == {each["id"] for each in made}
    again = {identity for identity, times in sent.items() if times > 1}
    told = re.search(r"could not be saved: (\d+)\.", refusal["message"])
    assert told is not None
    assert int(told[1]) <= len(again)  # a few of the same moment may still be tried by themselves
    assert not again & {each["id"] for each in noted}
    for event in {each["event"] for each in made}:
        begun_at = [stamp(each["started_at"]) for each in made if each["event"] == event]
        assert list_steps(begun_at)[:5] == [*WEBHOOK_RETRY_DELAYS, *(WEBHOOK_RETRY_INTERVAL,) * 2]
