"""`svc events examine`: tests a webhook handler with forged, repeated and unusual deliveries.

`svc.listen.examine` makes the deliveries and judges the answers; this module checks the options,
runs the examination and prints a verdict for each rule, or writes them to a report (Markdown).
"""

import secrets
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from string import ascii_letters, digits
from typing import Any, Final, get_args

from svc import __version__
from svc.cli.events.options import check_targets
from svc.cli.events.secrets import signing_secrets
from svc.cli.events.verify import SECRET_STDIN
from svc.cli.framework.app import make_app, verb
from svc.cli.framework.options import REQUIRED, OptionSet, flag, option
from svc.cli.framework.session import Session
from svc.clock import utc
from svc.errors import CheckFailed, UsageError, build_wrong_choice, name_failure
from svc.listen.examine.effects import CheckCommand
from svc.listen.examine.examiner import Examiner, HandlerTarget, RuleStatus, RuleVerdict
from svc.listen.examine.rules import RULES, HandlerRule
from svc.listen.forward.replay import ReplayLoop
from svc.listen.forward.request import TargetSender
from svc.listen.targets import Target, TargetTrust
from svc.service.facts import EVENT_TYPES, WEBHOOK_DEADLINE_SECONDS
from svc.system.files import replace_file
from svc.system.signals import Stopped

app = make_app()

_LETTERS: Final = ascii_letters + digits
_READABLE: Final = 0o644
_STATUSES: Final = get_args(RuleStatus)


class ExamArguments(OptionSet):
    """What may be typed behind `svc events examine`."""

    forward_to: str = option("URL", "The handler: 3000, 3000/webhooks or a URL.", default=REQUIRED)
    check: str | None = option(
        "CMD",
        "A shell command that prints what the handler has done: a number, or a line for each "
        "event.",
    )
    type_: str = option(
        "TYPE", "The type of event whose effect --check shows.", "--type", default="order.paid"
    )
    settle: float = option(
        "SECONDS", "How long an effect may take to show.", min=0, max=60, default=0.5
    )
    forward_timeout: float = option(
        "SECONDS",
        "How long an answer may take.",
        min=0.1,
        max=WEBHOOK_DEADLINE_SECONDS,
        default=float(WEBHOOK_DEADLINE_SECONDS),
    )
    report: Path | None = option("FILE", "Write a report in Markdown too, as for a pull request.")
    endpoint: str | None = option("ID", "The endpoint whose secret signs the events: we_...")
    secret_stdin: bool = SECRET_STDIN
    allow_remote_forward: bool = flag(
        "--allow-remote-forward", "Examine a handler on another machine too."
    )


@verb(app, options=ExamArguments)
def examine(session: Session, arguments: ExamArguments) -> None:
    """Test a webhook handler with forged, repeated, reordered and unusual deliveries.

    The handler gets about 40 made-up events of test mode, signed with the secret of its endpoint,
    and acts on them. Each of 14 rules is passed, failed, advice or unknown; the exit code is 11
    where one has failed, and what to change stands below it. Without --check the answers alone are
    judged: whether an event is handled once is unknown then (svc help examine).

    $ svc events examine --forward-to 3000/webhooks
    $ svc events examine --forward-to 3000/webhooks --check ./count.sh --report examination.md
    """
    session.prepare_long_run()
    _refuse(session, arguments)
    target = Target.parse(arguments.forward_to, allow_remote=arguments.allow_remote_forward)
    check_targets([target])
    out = session.out  # a mistake in --query is found before anything is sent
    signing = signing_secrets(session, arguments.endpoint, piped=arguments.secret_stdin)
    verdicts = _examine(session, arguments, target, signing)
    counts = Counter(each.status for each in verdicts)
    summary = ", ".join(f"{counts[status]} {status}" for status in _STATUSES if counts[status])
    data = {
        "object": "examination",
        "target": str(target),
        "type": arguments.type_,
        "has_check": arguments.check is not None,
        "examined_at": utc(session.clock.now()),
        **{status: counts[status] for status in _STATUSES},
        "rules": [each.as_data() for each in verdicts],
    }
    if out.format == "human":
        _show(session, verdicts, f"{summary}: {target} with {arguments.type_}.")
    elif out.format == "json":
        out.value(data)
    else:
        out.value(data["rules"], name="name")
    if arguments.report is not None:
        _write_report(arguments.report, data, verdicts, summary)
    _conclude(session, arguments, verdicts)


def _refuse(session: Session, arguments: ExamArguments) -> None:
    """Refuses live mode, unknown types and an empty command; raises UsageError."""
    if session.settings.mode == "live":
        raise UsageError(
            "svc events examine works in test mode only: a handler acts on made-up events.",
            code="test_mode_only",
            hint="Leave --live out, and examine the handler as it runs in test mode",
        )
    if arguments.type_ not in EVENT_TYPES:
        raise build_wrong_choice("--type", arguments.type_, EVENT_TYPES)


def _examine(
    session: Session, arguments: ExamArguments, target: Target, signing: Sequence[str]
) -> list[RuleVerdict]:
    sender = TargetSender(target, trust=TargetTrust(session.settings.ca_bundle))
    live = session.make_live_line()

    def show(rule: HandlerRule) -> None:
        live.show(f"{RULES.index(rule) + 1} of {len(RULES)}", f"  {rule.name}")

    examiner = Examiner(
        HandlerTarget(sender, arguments.forward_timeout),
        signing,
        arguments.type_,
        None if arguments.check is None else CheckCommand(arguments.check, session.env),
        arguments.settle,
        lambda count: "".join(secrets.choice(_LETTERS) for _ in range(count)),
        session.clock.now,
        show,
    )
    try:
        with ReplayLoop() as loop:
            verdicts = loop.run(examiner.examine)
    finally:
        live.clear()
    if verdicts is None:
        raise Stopped(loop.stopped_by or 0)
    return verdicts


def _show(session: Session, verdicts: Sequence[RuleVerdict], summary: str) -> None:
    session.out.checkup([each.as_data() for each in verdicts if each.until is None])
    waiting: dict[str, list[str]] = {}
    for each in verdicts:
        if each.until is not None:
            waiting.setdefault(each.until, []).append(each.rule.name)
    for until, names in waiting.items():
        session.out.words(f"Unknown until '{until}' passes: {', '.join(names)}.")
    session.out.words(summary)


def _write_report(
    path: Path, data: dict[str, Any], verdicts: Sequence[RuleVerdict], summary: str
) -> None:
    """Writes the report for a pull request; raises LocalError."""
    by = f"`svc events examine` of svc {__version__}"
    lines = [
        f"# Webhook handler at `{data['target']}`",
        "",
        f"{by}, {data['examined_at']}, with {data['type']}: **{summary}**.",
        "",
        "| The handler | Verdict | What was seen |",
        "|---|---|---|",
        *(
            f"| {_escape_cell(each.rule.promise)} | {each.status} | {_escape_cell(each.detail)} |"
            for each in verdicts
        ),
    ]
    for title, status in (("What to change", "failed"), ("Advice", "advice")):
        found = [each for each in verdicts if each.status == status]
        if found:
            lines += ["", f"## {title}", ""]
            lines += [f"- **{each.rule.name}**: {each.fix}" for each in found]
    with name_failure(f"The report {path} cannot be written", param="--report"):
        replace_file(path, ("\n".join(lines) + "\n").encode(), mode=_READABLE)


def _escape_cell(text: str) -> str:
    return text.replace("\\", "\\\\").replace("|", "\\|").replace("<", "&lt;")


def _conclude(session: Session, arguments: ExamArguments, verdicts: Sequence[RuleVerdict]) -> None:
    """Ends as the examination did; raises CheckFailed: the handler breaks a rule."""
    failed = [each.rule.name for each in verdicts if each.status == "failed"]
    if failed:
        raise CheckFailed(
            f"The handler fails {len(failed)} of {len(verdicts)} rules: {', '.join(failed)}.",
            code="examination_failed",
            hint="Change what stands below each rule, then examine it again",
        )
    unknown = sum(each.status == "unknown" for each in verdicts)
    if unknown and arguments.check is None:
        session.out.hint(
            f"{unknown} rules need --check CMD: a command that prints what the handler has done, "
            "as a number or a line for each event (svc help examine)"
        )
