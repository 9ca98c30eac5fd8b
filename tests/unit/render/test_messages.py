"""What goes to stderr: notes, warnings and errors, for people and for programs."""

import json
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import pytest

from svc import errors
from svc.errors import (
    ApiError,
    AuthError,
    ConfigError,
    ExitCode,
    Forbidden,
    NetworkError,
    NotFound,
    OutcomeUnknown,
    PartlyDone,
    RateLimited,
    SvcError,
    UsageError,
)
from svc.inputs import Format

KEYS = [
    "type",
    "code",
    "message",
    "param",
    "status",
    "request_id",
    "retryable",
    "retry_after",
    "outcome",
    "request",
    "idempotency_key",
    "exit_code",
]
REFUSED = ApiError(
    "The amount is larger than what is left of the payment.",
    code="amount_too_large",
    param="amount",
    status=400,
    request_id="req_1",
    outcome="refused",
    idempotency_key="key-1",
    hint="svc payments retrieve pay_1 shows what is left",
)
UNKNOWN = OutcomeUnknown(
    "No answer came within 60 s.",
    outcome="unknown",
    request="op_7",
    idempotency_key="3f0c",
    hint="svc requests resume op_7",
)


Tell = Callable[..., str]


@pytest.fixture
def told(printed: Any) -> Tell:
    """Prints an error for people and gives what is on stderr."""

    def tell(error: SvcError, **options: Any) -> str:
        output = printed("human", **options)
        output.output.error(error)
        assert output.out == ""
        return str(output.err)

    return tell


@pytest.mark.parametrize("form", ["json", "ndjson", "csv", "id"])
@pytest.mark.parametrize("error", [REFUSED, UNKNOWN, SvcError("x"), UsageError("x")])
def test_envelope_has_all_keys_in_order_on_one_line(
    printed: Any, form: Format, error: SvcError
) -> None:
    """In every format but human an error is one JSON object, all keys always there (R73)."""
    output = printed(form)
    output.output.error(error)
    assert output.out == ""
    assert output.err.endswith("}\n")
    assert output.err.count("\n") == 1
    said = json.loads(output.err)
    assert list(said) == ["error"]
    assert list(said["error"]) == KEYS
    assert said["error"]["message"].startswith(error.message)
    assert said["error"]["exit_code"] == int(error.exit_code)


def test_envelope_of_our_own_error_says_what_to_do(printed: Any) -> None:
    """A program's log shows the next step too; the service's words stay as they were sent."""
    output = printed("json")
    output.output.error(UsageError("It is wrong.", hint="Mend it"))
    assert json.loads(output.err)["error"]["message"] == "It is wrong. Mend it."
    output = printed("json")
    output.output.error(UsageError("No such option: --all", hint="svc get --help shows it"))
    said = json.loads(output.err)["error"]["message"]
    assert said == "No such option: --all. Next: svc get --help shows it"
    for hint in ("svc orders retrieve ord_1", "See its arguments and options: svc get --help"):
        output = printed("json")
        output.output.error(UsageError("It is wrong.", hint=hint))
        said = json.loads(output.err)["error"]["message"]
        assert said.endswith(f": {hint.rpartition(': ')[2]}")
    output = printed("json")
    output.output.error(REFUSED)
    assert json.loads(output.err)["error"]["message"] == REFUSED.message


def test_envelope_says_what_the_error_says(printed: Any) -> None:
    """No value of the error is lost or changed on its way."""
    output = printed("json")
    output.output.error(RateLimited("Slow down.", status=429, retryable=True, retry_after=3600))
    assert json.loads(output.err)["error"] == {
        "type": "rate_limit_error",
        "code": None,
        "message": "Slow down.",
        "param": None,
        "status": 429,
        "request_id": None,
        "retryable": True,
        "retry_after": 3600,
        "outcome": None,
        "request": None,
        "idempotency_key": None,
        "exit_code": 8,
    }


def test_refusal_says_what_why_what_next_and_the_request_id(told: Tell) -> None:
    """An error for people is at most four lines."""
    assert told(REFUSED) == (
        "Error: the service refused the request (400 amount_too_large, amount)\n"
        "  The amount is larger than what is left of the payment.\n"
        "  Next: svc payments retrieve pay_1 shows what is left\n"
        "  Request id: req_1\n"
    )


def test_an_unknown_outcome_is_said_once(told: Tell) -> None:
    """Where the message names the request, no other sentence says the same before it."""
    error = OutcomeUnknown("POST /v1/refunds may have been carried out, but nothing came.")
    assert told(error) == (
        "Outcome unknown: POST /v1/refunds may have been carried out, but nothing came.\n"
    )


def test_the_two_ids_of_a_request_have_two_names(told: Tell) -> None:
    """The service's and the journal's, on one line."""
    error = ApiError("No.", status=400, request_id="req_1", request="rq_1", outcome="refused")
    assert told(error).splitlines()[-1] == "  Request id: req_1, journal: rq_1"


def test_unknown_outcome_is_never_called_failed(told: Tell) -> None:
    """The request may have been carried out: that, the ids and the next command are said (R10)."""
    assert told(UNKNOWN) == (
        "Outcome unknown: the request may have been carried out\n"
        "  No answer came within 60 s.\n"
        "  Next: svc requests resume op_7\n"
        "  Journal: op_7, idempotency key: 3f0c\n"
    )


@pytest.mark.parametrize(
    ("error", "first"),
    [
        (ConfigError("No base URL is set."), "Error: No base URL is set."),
        (AuthError("There is no key."), "Error: There is no key."),
        (PartlyDone("12 of 20 rows are done."), "Partly done: 12 of 20 rows are done."),
        (
            Forbidden("No.", status=403, code="permission_denied"),
            "Error: the service does not accept the key for this (403 permission_denied)",
        ),
        (
            NotFound("No such order: ord_1.", status=404, code="resource_missing", param="id"),
            "Error: not found (404 resource_missing, id)",
        ),
        (
            RateLimited("Slow down.", status=429, code="rate_limit", retry_after=2.0),
            "Error: the service is not available, nothing was done (429 rate_limit, try again in 2 s)",
        ),
        (NetworkError("Connection refused."), "Error: Connection refused."),
    ],
)
def test_first_line_says_what_failed(told: Tell, error: SvcError, first: str) -> None:
    """The first line alone tells what happened."""
    assert told(error).splitlines()[0] == first


def test_error_page_of_a_server_becomes_a_line(told: Tell) -> None:
    """10 MB of HTML with escape sequences stay four short lines."""
    error = ApiError(
        "<html>\r\n\x1b]52;c;eA==\x07 [/foo] " * 400_000, status=502, request_id="r\nq"
    )
    said = told(error)
    assert said.count("\n") <= 4
    assert len(said) < 1000
    assert "\x1b" not in said
    assert "[/foo]" in said


def test_color_of_errors_is_decided_apart(told: Tell) -> None:
    """Standard error may be a file while stdout is a terminal: then it has no ESC (R75)."""
    assert told(REFUSED, color=True).startswith("\x1b[1;31mError:\x1b[0m the service")
    assert "\x1b" not in told(REFUSED, color=True, color_errors=False)
    assert "\x1b" not in told(REFUSED, color=False)


def test_error_wraps_at_words_on_a_narrow_terminal(told: Tell) -> None:
    """No word and no id is broken, and what goes on below stands further right (R63)."""
    missing = NotFound(
        "No such order: ord_3kPq0aVb7cXd9eYf1gZh2iWj. It may be of the other mode.",
        status=404,
        code="resource_missing",
        param="id",
        hint="Objects of the other mode are invisible to this key.",
        request_id="req_0123456789abcdef0123456789abcdef",
    )
    assert told(missing, terminal=True, width=30) == (
        "Error: not found (404\n"
        "    resource_missing, id)\n"
        "  No such order:\n"
        "    ord_3kPq0aVb7cXd9eYf1gZh2iWj.\n"
        "    It may be of the other\n"
        "    mode.\n"
        "  Next: Objects of the other\n"
        "    mode are invisible to this\n"
        "    key.\n"
        "  Request id:\n"
        "    req_0123456789abcdef0123456789abcdef\n"
    )
    colored = told(missing, terminal=True, width=30, color=True)
    assert told(missing, width=30).count("\n") == 4, "a log can be searched"
    assert colored.startswith("\x1b[1;31mError:\x1b[0m not found (404\n    resource_missing")


def test_commands_to_copy_are_not_wrapped(printed: Any, told: Tell) -> None:
    """A command that ends a line stays whole on a line of its own."""
    lost = OutcomeUnknown("No answer.", request="op_7", hint="svc requests resume op_7 --profile a")
    assert "\n  Next: svc requests resume op_7 --profile a\n" in told(lost, terminal=True, width=30)
    output = printed("human", terminal=True, width=30)
    output.output.hint("No profile is active any more: svc profiles use NAME --base-url URL")
    output.output.hint("Next page: svc orders list --starting-after ord_1")
    output.output.note("a short note\nand one that is longer than that")
    assert output.err == (
        "No profile is active any more:\n"
        "    svc profiles use NAME --base-url URL\n"
        "Next page: svc orders list --starting-after ord_1\n"
        "a short note\n"
        "and one that is longer than\n"
        "    that\n"
    )
    sentence = UsageError("No.", hint="svc whoami shows which key is used")
    assert "  Next: svc whoami shows which\n    key is used\n" in told(
        sentence, terminal=True, width=30
    )
    output = printed("csv", terminal=True, width=30)
    output.output.warn("a log of a program keeps one line for each message")
    assert output.err.count("\n") == 1


@pytest.mark.parametrize("quiet", [False, True])
def test_quiet_leaves_warnings_and_errors(printed: Any, samples: Any, quiet: bool) -> None:
    """--quiet takes notes, hints and the next-page line away, nothing else (R75)."""
    output = printed("human", quiet=quiet)
    output.output.note("a note")
    output.output.hint("a hint")
    output.output.warn("a warning")
    output.output.error(UsageError("an error"))
    output.page(samples["order"], next_command="svc orders list --starting-after x")
    assert ("a note\na hint\n" in output.err) is not quiet
    assert "Warning: a warning\n" in output.err
    assert "Error: an error\n" in output.err
    assert ("Next page" in output.out) is not quiet
    assert samples["order"]["id"] in output.out


def test_line_is_a_result_with_nothing_that_acts(printed: Any) -> None:
    """A plain line goes to stdout, escaped (R61)."""
    output = printed("human")
    output.output.line("ord_1\x1b[2J \u202eabc")
    assert output.out == "ord_1\\u{1b}[2J \\u{202e}abc\n"
    assert output.err == ""


def test_hint_is_dim_on_a_terminal(printed: Any) -> None:
    """A hint stands back."""
    output = printed("human", color=True)
    output.output.hint("try this")
    assert output.err == "\x1b[2mtry this\x1b[0m\n"


HEAVY = ("rich", "jmespath", "csv", "email", "asyncio")
PROGRAM = """
import io, sys
from svc.render.output import Output
from svc.errors import ApiError
def output(format):
    return Output(format=format, stdout=io.StringIO(), stderr=io.StringIO(), color=True, width=80,
                  now=lambda: 0.0)
{body}
print(*[name for name in {heavy!r} if name in sys.modules])
"""


@pytest.mark.parametrize(
    "body",
    [
        "output('json').answer('{}', {})",
        "output('human').error(ApiError('x', status=400))",
        *(
            pytest.param(body, marks=pytest.mark.slow)
            for body in (
                "",
                "output('ndjson').answer('{}', {})",
                "output('id').answer('{}', {'id': 'x'})",
                "output('csv').answer('{}', {'id': 'x'})",
                "output('json').error(ApiError('x', status=400))",
                "output('json').record({'a': 1})",
            )
        ),
    ],
)
def test_printing_simply_loads_nothing_heavy(body: str) -> None:
    """Start-up pays only for what it prints, and no library prints what is for machines (R62)."""
    program = PROGRAM.format(body=body, heavy=HEAVY)
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stdout == "\n"


# An error's class: its exit code, `type`, and what is known of the request before anything is said.
CLASSES = """
AuthError            4 authentication_error  -
ApiError             3 api_error             -
CheckFailed         11 check_failed          -
ConfigError          2 config_error          not_sent
Conflict             6 idempotency_error     -
Forbidden            4 permission_error      -
KeyStoreError        4 key_store_error       -
LocalError          10 local_error           -
NetworkError         8 network_error         -
NotFound             5 invalid_request_error -
OutcomeUnknown       7 outcome_unknown       -
PartlyDone           9 partly_done           -
RateLimited          8 rate_limit_error      -
ReplyContradiction   1 reply_contradiction   -
ServerError          8 api_error             -
SvcError             1 bug                   -
Unauthorized         4 authentication_error  -
UsageError           2 usage_error           not_sent
"""


@pytest.mark.parametrize("row", CLASSES.strip().splitlines())
def test_each_class_of_error_has_its_code_and_its_type(printed: Any, row: str) -> None:
    """R71, R73: scripts depend on both; nothing is retryable or proved unless that is said."""
    name, code, kind, outcome = row.split()
    error = getattr(errors, name)("It is wrong")
    output = printed("json")
    output.output.error(error)
    said = json.loads(output.err)["error"]
    assert (said["exit_code"], said["type"]) == (int(code), kind)
    assert said["outcome"] == (None if outcome == "-" else outcome)
    assert (said["retryable"], error.proved, error.replayed) == (False, False, False)


def test_a_delivery_that_is_not_authentic_says_the_verifiers_word(printed: Any) -> None:
    """R46: as its code."""
    output = printed("json")
    output.output.error(
        errors.SignatureError("signature_mismatch", "It is not authentic.", hint="Ask")
    )
    said = json.loads(output.err)["error"]
    assert (said["exit_code"], said["type"], said["code"]) == (
        11,
        "signature_error",
        "signature_mismatch",
    )


def test_exit_codes_have_words(told: Tell) -> None:
    """An answer of the service is never reported with an empty first line."""
    for code in (code for code in ExitCode if 1 <= code <= 11):
        error = SvcError("why", status=500)
        error.exit_code = code
        assert told(error).splitlines()[0].split(": ", 1)[1]
