"""What comes from outside and is not as it should be: one clear line, and nothing is lost."""

import io
import json
import os
import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Final

import pytest

from support.clocks import ManualClock
from support.running import Result, Sandbox, Svc, run_to_end
from support.servers.misbehaving import ScriptedServer
from svc.cli.framework.session import Session
from svc.cli.framework.streams import Streams
from svc.cli.main import run

NOWHERE: Final = {"SVC_BASE_URL": "http://127.0.0.1:9", "SVC_API_KEY": "sk_test_sandbox"}
DIGITS: Final = "9" * 5000


def program(
    *argv: "str | bytes", limit: Callable[[], None] | None = None, **more: object
) -> Result:
    """Runs the program with bytes as arguments, and perhaps with less of something."""
    done = subprocess.run(
        [sys.executable, "-m", "svc", *argv],
        env={**os.environ, **NOWHERE},
        capture_output=True,
        check=False,
        preexec_fn=limit,
        **more,  # type: ignore[call-overload]
    )
    err = done.stderr.decode("utf-8", "replace")
    assert "bug of its own" not in err, err
    assert "Traceback" not in err, err
    return Result(done.returncode, done.stdout.decode("utf-8", "replace"), err)


@pytest.mark.parametrize(
    "argv",
    [
        ("keys", "remind", "--max-age", DIGITS),
        ("keys", "remind", "--max-age", "999999999w"),
        ("keys", "roll", "--grace", DIGITS),
        ("events", "inbox", "--since", DIGITS),
        ("sandbox", "advance", DIGITS),
        ("orders", "list", "--limit", "9" * 20),
        ("orders", "create", "--item", f"name=a,quantity={DIGITS}"),
        ("orders", "create", "--item", f"name=a,quantity=1,unit_amount={DIGITS}"),
        ("orders", "create", "--amount", "1.\u00b2"),
        ("batch", "refunds.create", "-", "--rate", "nan"),
        ("batch", "refunds.create", "-", "--rate", "inf"),
        ("batch", "refunds.create", "a.csv", "--import", b"\xff"),
        ("orders", "retrieve", b"ord_\xff"),
        ("post", "/v1/x", "-d", b"a=\xff"),
        ("refunds", "create", "--idempotency-key", b"\xff"),
    ],
    ids=lambda argv: " ".join(str(word)[:12] for word in argv[:3]),
)
def test_what_cannot_be_meant_is_one_line(
    argv: "tuple[str | bytes, ...]", tmp_path: Path, svc: Svc, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Exit 2 before anything is sent, however long, curly or broken it is."""
    monkeypatch.chdir(tmp_path)
    Path("a.csv").write_text("payment\npay_1\n")
    result = svc(*map(os.fsdecode, argv), env=NOWHERE)
    assert "bug of its own" not in result.err
    assert result.code == 2, result.err
    assert len(result.err) < 1000


@pytest.mark.parametrize(
    "words",
    [
        ("requests", "list", "--limit"),
        pytest.param(("events", "inbox", "--max"), marks=pytest.mark.slow),
    ],
)
def test_a_number_that_no_table_holds_is_all_of_it(words: tuple[str, ...]) -> None:
    """Twenty digits are a number like any other."""
    assert program(*words, "9" * 20).code == 0


def test_links_in_a_circle_are_a_file_that_cannot_be_read(tmp_path: Path) -> None:
    """As FILE of a batch, and as a body."""
    one, two = tmp_path / "one.csv", tmp_path / "two.csv"
    one.symlink_to(two)
    two.symlink_to(one)
    for argv in (("batch", "refunds.create", str(one)), ("refunds", "create", "--body", str(one))):
        result = program(*argv)
        assert result.code == 2
        assert "too many levels of symbolic links" in result.err


def test_a_closed_stdin_is_an_empty_one(tmp_path: Path) -> None:
    """`<&-` in a shell: there are no rows to be read, and no body; nothing is sent."""
    for words, code in (
        ("batch refunds.create - --dry-run", 2),
        ("refunds create --body -", 2),
    ):
        done = run_to_end(
            ["bash", "-c", f"exec {sys.executable} -m svc {words} <&-"],
            env={**os.environ, **NOWHERE},
            cwd=tmp_path,
        )
        assert done.returncode == code, done.stderr
        assert "bug" not in done.stderr


def test_bytes_from_outside_are_utf_8_and_stay_as_they_are(tmp_path: Path) -> None:
    """Whatever the locale says; and no line end is changed on the way."""
    latin = {"LC_ALL": "en_US.ISO-8859-1", "PYTHONIOENCODING": "iso-8859-1", "PYTHONUTF8": "0"}
    note = tmp_path / "note.txt"
    note.write_bytes("é\r\nb\n".encode())

    def body(*argv: str, stdin: bytes = b"") -> "tuple[int, bytes]":
        done = subprocess.run(
            [sys.executable, "-m", "svc", "post", "/v1/x", *argv, "--dry-run", "--query", "body"],
            env={**os.environ, **NOWHERE, **latin},
            input=stdin,
            capture_output=True,
            check=False,
        )
        return done.returncode, done.stdout

    code, out = body("-d", f"x=@{note}")
    assert (code, json.loads(out.decode("iso-8859-1"))) == (0, {"x": "é\r\nb\n"})
    code, out = body("--body", "-", stdin='{"x":"é"}'.encode())
    assert (code, json.loads(out.decode("iso-8859-1"))) == (0, {"x": "é"})
    assert body("--body", "-", stdin='{"x":"é"}'.encode("latin-1"))[0] == 2


def test_a_separator_in_quotes_is_part_of_a_name(tmp_path: Path) -> None:
    """`"metadata[a;b]",payment` is separated by commas."""
    path = tmp_path / "a.csv"
    path.write_text('"metadata[a;b]",payment,amount\nx,pay_1,5\n')
    result = program("batch", "refunds.create", str(path), "--dry-run")
    assert result.code == 0, result.err
    assert json.loads(result.out)["totals"] is not None


def test_waiting_ends_with_the_deadline_of_the_command(server: ScriptedServer) -> None:
    """`--wait --max-time 60`: the time that the request took counts, too."""
    pending = {
        "id": "rf_1",
        "object": "refund",
        "status": "pending",
        "payment": "pay_1",
        "amount": 5,
    }
    answer, clock = server.reply(200, pending), ManualClock()

    def late(sock: socket.socket) -> bool:
        clock.advance(50)
        return answer(sock)

    server.play(late, answer)
    argv = (
        "refunds",
        "create",
        "--payment",
        "pay_1",
        "--amount",
        "5",
        "--wait",
        "--max-time",
        "60",
    )
    env = {**os.environ, "SVC_BASE_URL": server.url, "SVC_API_KEY": "sk_test_sandbox"}
    streams = Streams(io.TextIOWrapper(io.BytesIO()), io.StringIO(), io.StringIO())
    with Session(argv, env, streams, clock) as session:
        assert run(session) == 11
    assert 60 <= clock.monotonic() < 62


@pytest.mark.parametrize(
    "argv",
    [("orders", "cancel", "ord_1"), pytest.param(("requests", "list"), marks=pytest.mark.slow)],
)
def test_too_many_open_files_is_what_is_said(argv: tuple[str, ...], sandbox: Sandbox) -> None:
    """The advice is about descriptors, and not about space on the disk."""
    code = (
        "import os, resource, sys\n"
        "from svc.cli.main import main\n"
        "main(sys.argv[1:])\n"  # loads all that it needs
        "free = os.dup(0)\n"
        "resource.setrlimit(resource.RLIMIT_NOFILE, (free, free))\n"
        "sys.stderr.write('@@')\n"
        "sys.exit(main(sys.argv[1:]))"
    )
    done = run_to_end([sys.executable, "-c", code, *argv])
    said = done.stderr.partition("@@")[2]
    assert done.returncode == 10, done.stderr
    assert "too many open files" in said
    assert "ulimit -n" in said
    assert "space" not in said


def test_the_line_for_zsh_is_quoted(tmp_path: Path) -> None:
    """A home such as `o'neil` is no end of a string."""
    home = tmp_path / "o'neil"
    home.mkdir(mode=0o700)
    done = run_to_end(
        [sys.executable, "-m", "svc", "completion", "zsh", "--install"],
        env={**os.environ, "HOME": str(home)},
    )
    path = json.loads(done.stdout)["line"].rpartition(" source ")[2]
    shown = subprocess.run(
        ["bash", "-c", f"printf %s {path}"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert shown.stdout.startswith(str(home))
