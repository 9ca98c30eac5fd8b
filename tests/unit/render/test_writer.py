"""One writer for both streams: nothing else writes to one, and what it masks and escapes."""

import ast
import io
from pathlib import Path
from typing import Final

import pytest

import svc
from svc.redaction import redact_bytes
from svc.render.writer import Writer

HOUSE: Final = Path(svc.__file__).parent
WRITING: Final = {"write", "writelines"}
# What is written to that is no standard stream, by the last word of its name.
OTHERS: Final = {
    "_inner": "a transport",
    "_library": "a keyring",
    "_transport": "a connection",
    "_file": "a file",
    "context": "the sandbox's memory of requests",
    "file": "a file",
    "fresh": "a file",
    "os": "a descriptor: see DESCRIPTORS",
    "own": "a keyring",
    "outlet": "a descriptor, below the writer",
    "store": "the sandbox's store",
    "self": "the help formatter's own buffer",
    "stdin": "what a command for an event reads",
    "transport": "a connection",
    "raw": "the stream below the writer",
}
WRITERS: Final = {"stdout", "stderr", "_stdout", "_stderr", "_out", "_err", "_writer", "_stream"}
# Modules that hold a standard stream itself: the writer, what stands below it, what runs before it.
BELOW: Final = {
    "start.py": "before the program is loaded, in words of its own",
    "sandbox/__main__.py": "a line for the process that has started it",
    "cli/events/screen/streams.py": "below the writer",
    "render/writer.py": "the writer",
}
HOLDING: Final = {
    *BELOW,
    "cli/framework/streams.py",  # where they are made
    "cli/framework/invocation.py",  # where the writers are made
}


def calls(tree: ast.Module) -> list[tuple[str, str]]:
    """Gives what is called to write, and on what."""
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            if node.func.attr in WRITING and node.args:  # without any it begins a transaction
                found.append((node.func.attr, ast.unparse(node.func.value)))
        elif isinstance(node, ast.Call) and ast.unparse(node.func) == "print":
            found.append(("print", ""))
    return found


def test_nothing_writes_to_a_stream_but_the_writer() -> None:
    """R126: a debug page's `::stop-commands::` and a key reach no log past it."""
    found, stray = 0, set()
    for path in sorted(HOUSE.rglob("*.py")):
        name = path.relative_to(HOUSE).as_posix()
        text = path.read_text()
        is_writing = "write" in text or "print(" in text
        for what, receiver in calls(ast.parse(text)) if is_writing else ():
            found += 1
            last = receiver.rpartition(".")[2].partition("(")[0]
            if name not in BELOW and last not in {*OTHERS, *WRITERS}:
                stray.add(f"{name}: {receiver}.{what}")
            raw = f"streams.{last}" in receiver or receiver.startswith("sys.")
            if name not in BELOW and raw:
                stray.add(f"{name}: {receiver}.{what}")
        if name not in HOLDING and ("sys.stdout" in text or "sys.stderr" in text):
            stray.add(f"{name}: sys.stdout or sys.stderr")
    assert found > 30
    assert stray == set()


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        pytest.param("a sk_live_abcdefghijklmnop b", "a sk_live_…mnop b", id="key"),
        pytest.param("whsec_abcdefghijklmnop", "whsec_…mnop", id="signing-secret"),
        pytest.param("::stop-commands::x", ":\\u{3a}stop-commands::x", id="command"),
        pytest.param("x ##[group]y", "x ##\\u{5b}group]y", id="old-command"),
    ],
)
def test_words_of_others_are_masked_and_act_on_nothing(text: str, shown: str) -> None:
    """R126, R39, R107: in a message; a result holds secrets that are meant, and no commands."""
    out = io.StringIO()
    writer = Writer(out, workflow=True)
    writer.write_masked(f"{text}\n")
    assert out.getvalue() == f"{shown}\n"


def test_what_is_kept_of_an_answer_is_masked_also_where_it_is_no_text() -> None:
    """R126: only what looks secret is changed."""
    page = b"\xff<p>SVC_API_KEY=sk_live_abcdefghijklmnop</p>\x00"
    assert redact_bytes(page) == b"\xff<p>SVC_API_KEY=sk_live_\xe2\x80\xa6mnop</p>\x00"
    assert redact_bytes(b"\xff\xfeok") == b"\xff\xfeok"


def test_bytes_keep_their_line_ends_and_their_place() -> None:
    """What was written before comes before them; a stdout that the shell closed takes them, too."""
    sink = io.BytesIO()
    stream = io.TextIOWrapper(sink, encoding="utf-8", newline="\r\n")
    writer = Writer(stream)
    writer.write("a\n")
    writer.write_bytes("é\n".encode())
    assert sink.getvalue() == "a\r\né\n".encode()
    closed = io.StringIO()
    Writer(closed).write_bytes(b"b\n")
    assert closed.getvalue() == "b\n"
