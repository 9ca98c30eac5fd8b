"""Whatever a server answers: under 160 MB at the peak, and inside the deadline (promise R99)."""

import gzip
import json
import os
import resource
import sys
import time
from pathlib import Path
from typing import Any, Final

import pytest

from support.running import Result, run_to_end
from support.servers.misbehaving import ScriptedServer

MEMORY_MAX: Final = 160_000_000
MIB: Final = 1024 * 1024
REFUND: Final = {"id": "rf_1", "object": "refund", "payment": "pay_1", "amount": 5}
# Runs the program as its only child, and says what that took at its peak.
MEASURED: Final = """
import resource, subprocess, sys
done = subprocess.run([sys.executable, "-m", "svc", *sys.argv[1:]])
print("@@", resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024, file=sys.stderr)
sys.exit(done.returncode)
"""


def measured(url: str, *argv: str) -> tuple[Result, int, float]:
    """What a run gave, its memory in bytes, and its seconds of processor time."""
    env = {**os.environ, "SVC_BASE_URL": url, "SVC_API_KEY": "sk_test_sandbox"}
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = run_to_end([sys.executable, "-c", MEASURED, *argv], env=env)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    err, _, peak = done.stderr.rpartition("@@")
    assert "Traceback" not in err
    return Result(done.returncode, done.stdout, err.strip()), int(peak), spent


def padded(inner: str, fields: dict[str, Any], size: int) -> bytes:
    """An object of so many bytes, most of them in one list of equal things."""
    head = json.dumps(fields)[:-1]
    count = (size - len(head) - 20) // (len(inner.encode()) + 1)
    return f'{head}, "junk": [{",".join([inner] * count)}]}}'.encode()


def page_of(entry: bytes, size: int) -> bytes:
    entries = [entry.replace(b"rf_1", b"rf_%d" % n) for n in range(size // len(entry))]
    return b'{"object":"list","has_more":false,"data":[' + b",".join(entries) + b"]}"


SLOW: Final = pytest.mark.slow(seconds=5)
INNER: Final = ('{"a":0}', "[[],{}]", '"\U0001f600"')
MARKED: Final = (INNER[0], *(pytest.param(one, marks=SLOW) for one in INNER[1:]))


@pytest.mark.parametrize(
    ("size", "form"),
    [
        (16 * MIB, "json"),
        (MIB - 100, "human"),
        pytest.param(16 * MIB, "human", marks=SLOW),
        pytest.param(MIB - 100, "json", marks=SLOW),
    ],
)
@pytest.mark.parametrize("inner", MARKED)
def test_an_object(server: ScriptedServer, inner: str, size: int, form: str) -> None:
    """A refund is confirmed by one that holds a million things: not our reply, or shown at once."""
    body = gzip.compress(padded(inner, REFUND, size), 1)
    server.play(server.reply(200, body, {"Content-Encoding": "gzip"}))
    argv = ("refunds", "create", "--payment", "pay_1", "--amount", "5", "--max-time", "6")
    result, memory, seconds = measured(server.url, *argv, "-o", form)
    assert result.code in (0, 7)
    assert memory < MEMORY_MAX
    assert seconds < 6


@pytest.mark.slow(seconds=5)
@pytest.mark.parametrize(
    ("inner", "form"), [(INNER[0], "json"), (INNER[1], "human"), (INNER[2], "json")]
)
def test_a_page(server: ScriptedServer, inner: str, form: str) -> None:
    """A page of as many bytes as one may have, in a hundred objects or in one."""
    for entry_size in (150_000, 15 * MIB):
        page = page_of(padded(inner, REFUND, entry_size), 15 * MIB + 100_000)
        server.play(server.reply(200, gzip.compress(page, 1), {"Content-Encoding": "gzip"}))
        result, memory, seconds = measured(server.url, "refunds", "list", "-o", form)
        assert result.code in (0, 8)
        assert memory < MEMORY_MAX
        assert seconds < 12


def test_a_page_of_long_texts_is_shown(server: ScriptedServer) -> None:
    """What has few values is read up to its full size."""
    entry = json.dumps({**REFUND, "reason": "ä" * 70_000}, ensure_ascii=False).encode()
    page = page_of(entry, 100 * len(entry))
    server.play(server.reply(200, page))
    result, memory, _ = measured(server.url, "refunds", "list")
    assert result.code == 0
    assert len(result.json["data"]) == 100
    assert memory < MEMORY_MAX


@pytest.mark.parametrize(
    ("text", "form"),
    [
        ("\\n", "human"),
        pytest.param("\\n", "json", marks=SLOW),
        pytest.param("\\u001b", "csv", marks=SLOW),
        pytest.param("a ", "human", marks=SLOW),
        pytest.param("\\u001b", "json", marks=SLOW),
        pytest.param("\\n", "ndjson", marks=SLOW),
    ],
)
def test_one_long_text(server: ScriptedServer, text: str, form: str) -> None:
    """One value is enough: a text of nothing but escapes, or line feeds, as long as may be."""
    inner = text * (15 * MIB // len(text))
    server.play(server.reply(200, f'{{"id":"x_1","object":"x","note":"{inner}"}}'.encode()))
    result, memory, seconds = measured(server.url, "get", "/v1/xs/x_1", "-o", form)
    assert result.code == 0
    assert memory < MEMORY_MAX
    assert seconds < 12


@pytest.mark.parametrize("inner", MARKED)
def test_an_error(server: ScriptedServer, inner: str) -> None:
    """A refusal is read as far as its message goes."""
    body = padded(inner, {"type": "invalid_request_error", "message": "No."}, 16 * MIB)
    server.play(server.reply(400, body))
    result, memory, _ = measured(server.url, "refunds", "retrieve", "rf_1", "-o", "human")
    assert result.code in (3, 8)
    assert memory < MEMORY_MAX


@pytest.mark.parametrize("inner", ["{}", pytest.param('"\U0001f600"', marks=SLOW)])
def test_a_batch(server: ScriptedServer, tmp_path: Path, inner: str) -> None:
    """Eight workers hold as many answers at once."""
    path = tmp_path / "a.ndjson"
    rows = [{"payment": "pay_1", "amount": n} for n in range(1, 41)]
    path.write_text("\n".join(map(json.dumps, rows)))
    server.play(server.reply(200, padded(inner, REFUND, MIB - 100)))
    began = time.monotonic()
    _, memory, _ = measured(server.url, "batch", "refunds.create", str(path), "--max-time", "6")
    assert memory < MEMORY_MAX
    assert time.monotonic() - began < 60
