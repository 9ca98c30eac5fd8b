"""What svc says of a wrong command line: the code, the option that it names, the words, the hint.

The lines lie in `refusals/`, each with what is said of it; `GOLDEN=write` writes that anew. A line
may begin with variables, and end with what comes on standard input.
"""

import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest

from support.running import inside
from support.suite.golden import hold_golden
from svc.service.facts import WEBHOOK_BODY_MAX

TOLD = Path(__file__).with_name("refusals")
GIVEN = {"SVC_BASE_URL": "http://127.0.0.1:9", "SVC_API_KEY": "sk_test_1234567890"}
FILES = {
    "a.csv": "payment,amount\npay_1,100\n",
    "a.ndjson": "{}\n",
    "a.json": "{}",
    "list.json": "[]",
    "big.json": " " * (WEBHOOK_BODY_MAX + 1),
    "shop.conf": '# svc-log: {"log": "shop", "mode": "test"}\n',
}


def describe(line: str) -> Iterator[str]:
    yield f"$ {line}"
    variables, _, words = line.partition("svc ")
    words, _, typed = words.partition(" < ")
    given = GIVEN | dict(one.split("=", 1) for one in variables.split())
    result = inside(*shlex.split(words), stdin=typed.encode(), env=given)
    assert result.out == "", line
    error = result.error
    named = (result.code, error["code"], error.get("param"), error.get("outcome"))
    yield f"  {named} {error['message']}"


@pytest.mark.parametrize("word", ["events", "sandbox", "others"])
def test_each_wrong_command_line_is_refused_as_agreed(
    isolated: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, word: str
) -> None:
    """Before anything is sent, or handed to another program (R23); a key is not repeated (R39)."""
    monkeypatch.chdir(tmp_path)
    for name, text in FILES.items():
        Path(name).write_text(text, encoding="utf-8")
    told = TOLD / f"{word}.txt"
    texts = told.read_text(encoding="utf-8").splitlines()
    lines = [line.removeprefix("$ ") for line in texts if line.startswith("$")]
    said = "".join(f"{part}\n" for line in lines for part in describe(line))
    hold_golden(told, said)
    assert word != "sandbox" or not (isolated / "state").exists()
