"""Each example of `--help`, typed as it stands against a fresh demo sandbox, is carried out."""

import shlex
from pathlib import Path
from typing import Final

import pytest

from support.running import Sandbox, Svc, command_tree

_PROGRAM: Final = "it starts, stops or becomes a process; the tests of processes run it"
_FILE: Final = "it reads a file of the user's"
_LOG: Final = "it needs the log of a team"
_KEYRING: Final = "it asks for a key, or keeps one in the system's keyring"
_LIVE: Final = "it needs a key of live mode"
_INBOX: Final = "it is about what a listener has received on this machine"
_REQUEST: Final = "it is about a request that was left open on this machine"
_SHELL: Final = "its other half is the shell's"

# How examples begin that cannot be carried out here, and why.
NOT_HERE: Final = {
    "svc batch ": _FILE,
    "svc orders list --status authorized --all -o csv --fields id > held.csv": _FILE,
    "svc events verify ": _FILE,
    "svc events listen": _PROGRAM,
    "svc events tail": _PROGRAM,
    "svc events sign ": _FILE,
    "svc events examine": "it needs a handler that runs",
    "svc events receive": _LOG,
    "svc events log": _LOG,
    "svc events audit --since 2026-11-20 --from": _LOG,
    "svc events inbox show": _INBOX,
    "svc events replay": _INBOX,
    "svc requests show": _REQUEST,
    "svc requests resume": _REQUEST,
    "svc requests forget": _REQUEST,
    "svc requests adopt": _FILE,
    "svc requests start-empty": "it follows a damaged state database",
    "svc keys add": _KEYRING,
    "svc keys roll": _KEYRING,
    "svc keys remove": _KEYRING,
    "svc keys remind --max-age 60d": _SHELL,
    "svc sandbox start": _PROGRAM,
    "svc sandbox stop": _PROGRAM,
    "svc sandbox status": _PROGRAM,
    "svc sandbox logs": _PROGRAM,
    'eval "$(svc sandbox env)"': _PROGRAM,
    "svc sandbox requests --follow": _PROGRAM,
    "svc sandbox keys roll": "the id of a key comes of its text; a demo's keys are constants",
    "svc quickstart": _PROGRAM,
    "svc mcp": _PROGRAM,
    "svc whoami --live": _LIVE,
    "svc doctor --live": _LIVE,
}
_SHOP: Final = ("svc profiles create shop --base-url https://api.example.com",)
# What has to be there first, and is no object of a sandbox.
BEFORE: Final = {
    "svc profiles use shop": _SHOP,
    "svc profiles remove shop": (
        "svc profiles create first --base-url https://a.example.com",
        *_SHOP,
    ),
    "svc keys list --profile shop": _SHOP,
    "svc sandbox compare --profile shop": _SHOP,
    "svc sandbox compare --profile shop --save -o json": _SHOP,
    "svc config get profiles.shop.base_url": _SHOP,
    "svc config set profiles.shop.auth basic": _SHOP,
    "svc config unset output": ("svc config set output json",),
    "svc sandbox import state.json": ("svc sandbox export state.json",),
    "svc sandbox resend evt_3kPq0aVb7cXd9eYf1gZh2iWj": (
        "svc webhook-endpoints create --url https://shop.example/hooks --events payment.captured",
    ),
}
# What an example is there to show.
ENDS_WITH: Final = {
    "svc sandbox pay ord_3kPq0aVb7cXd9eYf1gZh2iWj --card 4000000000009995": 3,  # declined
    "svc keys remind --created 2025-10-01 --format github": 11,  # overdue
}
EXAMPLES: Final = [line for command in command_tree().root.walk() for line in command.examples]


def test_what_cannot_be_tried_is_still_shown() -> None:
    """A beginning that no example has any more would excuse nothing."""
    for beginning in (*NOT_HERE, *BEFORE, *ENDS_WITH):
        assert any(line.startswith(beginning) for line in EXAMPLES), beginning


@pytest.mark.parametrize(
    "line", [line for line in EXAMPLES if not line.startswith(tuple(NOT_HERE))]
)
def test_an_example_is_carried_out(
    svc: Svc, sandbox: Sandbox, line: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sandbox.control("POST", "/reset", {"fixture": "demo"})
    monkeypatch.chdir(tmp_path)
    for each in (*BEFORE.get(line, ()), line):
        program, *words = shlex.split(each)
        done = svc(*words)
        expected = ENDS_WITH.get(each, 0)
        assert (program, done.code) == ("svc", expected), done.err


@pytest.mark.parametrize(
    "line",
    [
        "svc orders retrieve ord_3kPq0aVb7cXd9eYf1gZh2iWj",
        "svc refunds create --payment pay_7cXd9eYf1gZh2iWj3kPq0aVb --amount 4999",
        "svc post /v1/refunds -d payment=pay_7cXd9eYf1gZh2iWj3kPq0aVb -d amount:=4999",
        "svc sandbox pay ord_3kPq0aVb7cXd9eYf1gZh2iWj",
        "svc sandbox endpoints enable we_3kPq0aVb7cXd9eYf1gZh2iWj",
    ],
)
def test_an_example_says_where_its_ids_are(svc: Svc, sandbox: Sandbox, line: str) -> None:
    """To somebody whose sandbox was started without the demo; of other ids it does not."""
    words = shlex.split(line)[1:]
    missing = svc(*words, env={"SVC_OUTPUT": "human"})
    assert missing.code == 5, missing.err
    told = " ".join(missing.err.split())
    assert "_3kPq" in told or "_7cXd" in told
    assert "is in the demo, which replaces all that is there: svc sandbox reset" in told
    assert "other mode" not in told
    load = told.partition("there: svc ")[2].partition(" Request")[0].split()
    assert svc(*load, "--yes").code == 0
    assert svc(*words).code == 0
    changed = svc(*(word.replace("0aVb", "0000") for word in words), env={"SVC_OUTPUT": "human"})
    assert "the demo" not in changed.err


def test_an_example_s_id_of_another_kind_leads_to_its_object(svc: Svc, sandbox: Sandbox) -> None:
    """Not to the demo, which is there already: loading it would replace all that is."""
    sandbox.control("POST", "/reset", {"fixture": "demo"})
    payment = "pay_7cXd9eYf1gZh2iWj3kPq0aVb"
    missing = svc("orders", "retrieve", payment, "-o", "human")
    assert missing.code == 5
    assert f"{payment} is a payment: svc get {payment}" in " ".join(missing.err.split())
    assert "reset" not in missing.err


def test_an_event_that_no_endpoint_takes_is_said_to_be_sent_nowhere(
    svc: Svc, sandbox: Sandbox
) -> None:
    """The demo's only endpoint is disabled: nothing is done, and nothing looks as if it were."""
    sandbox.control("POST", "/reset", {"fixture": "demo"})
    resend = ("sandbox", "resend", "evt_3kPq0aVb7cXd9eYf1gZh2iWj")
    told = svc(*resend, env={"SVC_OUTPUT": "human"})
    assert (told.code, told.out) == (3, "")
    assert "Nothing was sent: no enabled endpoint takes payment.captured." in told.err
    assert "svc sandbox endpoints list" in told.err
    assert svc(*resend).error["code"] == "endpoint_missing"
