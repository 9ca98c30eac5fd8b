"""Judges for each row of the fidelity table whether a service behaves as the sandbox does.

`compare` calls `judge_all` with the answers of `asking`: out comes a finding for each row that can
be asked about: held, different or unknown, with both answers and the sandbox's setting for it.
"""

import json
from collections.abc import Iterator, Mapping
from typing import Any, Final

from svc.cli.sandbox.compare.asking import AnswerMissing, Exchange, Inquiry
from svc.errors import LocalError
from svc.redaction import redact
from svc.sandbox.fidelity import ROWS, FidelityRow, Probe
from svc.sandbox.store.settings import META, check_stored

HELD, DIFFERENT, UNKNOWN = "held", "different", "unknown"
_WORDS: Final = {"true": True, "false": False}
_TEXT_MAX: Final = 300


def judge_all(inquiry: Inquiry) -> Iterator[dict[str, Any]]:
    """Yields a finding for each row that has a probe, in the order of the table."""
    for row in ROWS:
        if row.probe is not None:
            yield judge(row, row.probe, inquiry)


def judge(row: FidelityRow, probe: Probe, inquiry: Inquiry) -> dict[str, Any]:
    """Builds a finding: row, result, request, and both answers or the reason for none."""
    exchange = inquiry.exchanges[probe.request]
    result, more = _compare(probe, exchange, inquiry)
    found = {
        "object": "assumption_check",
        "result": result,
        "subject": row.subject,
        "name": row.name,
        "what": row.what,
        "mark": row.mark,
        "request": exchange.target,
        "sent": exchange.asked.raw or exchange.asked.body,
        "expected": None,
        "answered": None,
        "answer": None,
        "means": None,
        "setting": None,
        "reason": None,
    }
    if result == DIFFERENT:
        found["means"] = probe.means or exchange.asked.means
        answer = exchange.answer or {}
        told = {name: answer["error"].get(name) for name in ("code", "message")}
        found["answer"] = {
            "status": answer["status"],
            **{k: mask_secrets(v) for k, v in told.items() if v is not None},
        }
    return {**found, **more}


def _compare(probe: Probe, exchange: Exchange, inquiry: Inquiry) -> tuple[str, dict[str, Any]]:
    answer = exchange.answer
    if answer is None:
        return UNKNOWN, {"reason": exchange.why}
    turned = answer["done"] == exchange.asked.refused
    if turned and not probe.whether_taken:
        return UNKNOWN, {"reason": f"{exchange.target} was {answer['outcome']}"}
    try:
        if not turned and probe.when and not inquiry.search(probe.when, answer):
            return UNKNOWN, {"reason": f"{exchange.target} brought nothing to tell it by"}
        expected = inquiry.search(probe.expected, answer)
        answered = _find_answer(probe, answer, inquiry)
    except (AnswerMissing, LocalError) as error:
        if not turned:
            return UNKNOWN, {"reason": _words(error)}
        expected = answered = None
    if _is_same(expected, answered) and not turned:
        return HELD, {}
    setting = _find_setting(probe, answer, answered, inquiry)
    return DIFFERENT, {"expected": expected, "answered": mask_secrets(answered), "setting": setting}


def _find_answer(probe: Probe, answer: Mapping[str, Any], inquiry: Inquiry) -> Any:
    """What is looked at in an answer, or in words why it is not there to be looked at."""
    try:
        return inquiry.search(probe.answered, answer)
    except LocalError as error:
        return f"nothing of this form: {_words(error)}"


def _words(error: Exception) -> str:
    text = error.message if isinstance(error, LocalError) else str(error)
    return text.removeprefix("--query does not fit this result: ")


def _is_same(one: Any, other: Any) -> bool:
    """Whether two values are equal as JSON, where true is not 1."""
    return json.dumps(one, sort_keys=True) == json.dumps(other, sort_keys=True)


def _find_setting(
    probe: Probe, answer: Mapping[str, Any], answered: Any, inquiry: Inquiry
) -> dict[str, Any] | None:
    """The setting with which a sandbox answers so; None where there is none."""
    name, _, value = probe.setting.partition("=")
    if not name:
        return None
    try:
        if probe.alternative and not _is_same(inquiry.search(probe.alternative, answer), answered):
            return None
        chosen = answered if value == "*" else _WORDS.get(value, value)
        check_stored(META, {name: chosen})
    except (AnswerMissing, LocalError, ValueError):
        return None
    return {name: chosen}


def mask_secrets(value: Any) -> Any:
    """Returns a value without secrets, its texts cut to a readable length."""
    if isinstance(value, str):
        return redact(value[:_TEXT_MAX])
    if isinstance(value, list):
        return [mask_secrets(each) for each in value]
    if isinstance(value, dict):
        return {
            name: "…" if "secret" in name and each else mask_secrets(each)
            for name, each in value.items()
        }
    return value
