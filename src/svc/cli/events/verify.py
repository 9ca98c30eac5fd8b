"""`svc events verify`: checks the signature of one delivery offline and says what is wrong.

Payload, header and secret in, a verdict out: `svc.signature` checks the signature, and
`svc.listen.verify.diagnosis` explains a failure. `examine` and `sign` share its options.
"""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from svc import signature
from svc.api_keys import SIGNING_VARIABLE
from svc.cli.events.secrets import find_known_elsewhere, load_secrets, read_given
from svc.cli.framework.app import make_app, verb
from svc.cli.framework.control import moments
from svc.cli.framework.options import REQUIRED, flag, option
from svc.cli.framework.session import Session
from svc.errors import SignatureError, UsageError, name_failure
from svc.listen.output_records import iso
from svc.listen.verify.diagnosis import diagnose
from svc.listen.verify.verify import Facts, read_facts
from svc.service.facts import SIGNATURE_HEADER, SIGNATURE_TOLERANCE_SECONDS, WEBHOOK_BODY_MAX
from svc.system.consoles import read_to_end

_PREFIX: Final = re.compile(rf"{SIGNATURE_HEADER}[ \t]*:[ \t]*", re.IGNORECASE)
_LATEST: Final = 253_402_300_799 - SIGNATURE_TOLERANCE_SECONDS  # the last second that has a date

app = make_app()

PAYLOAD: Final[Path | None] = option("FILE", "The raw body.", show_default="standard input")
SECRET_STDIN: Final = flag("--secret-stdin", "Read the signing secret from standard input.")


@verb(app)
def verify(
    session: Session,
    header: list[str] = option(
        "VALUE", "The Svc-Signature header; repeatable, for each line of it.", default=REQUIRED
    ),
    payload: Path | None = PAYLOAD,
    secret_stdin: bool = SECRET_STDIN,
    now: str | None = option(
        "TIME",
        "The time to check as of: 2026-11-21T09:00, Unix seconds or 2h (ago).",
        show_default="now",
    ),
) -> None:
    """Check one delivery: exit 0 if it is authentic, else 11 and what is wrong.

    The secret comes from SVC_WEBHOOK_SECRET, from standard input, or from your own endpoints.

    $ svc events verify --header 't=1700000000,v1=83cb...' --payload body.json
    """
    moment = time_of(session, now, "--now")
    secrets: Sequence[str] = read_given(session, piped=secret_stdin) or load_secrets(session)
    if not secrets:
        raise UsageError(
            "There is no signing secret to verify with.",
            code="secret_missing",
            hint=f"Set {SIGNING_VARIABLE}, or pipe it in: --secret-stdin --payload FILE < SECRET",
        )
    headers = [_PREFIX.sub("", text, count=1).encode("utf-8", "surrogateescape") for text in header]
    body = read_payload(session, payload, piped=secret_stdin)
    try:
        verified = signature.verify(body, headers, secrets, int(moment))
    except SignatureError as error:
        elsewhere = (
            find_known_elsewhere(session, None) if error.reason == "signature_mismatch" else ()
        )
        found = diagnose(error, body, headers, secrets, elsewhere)
        raise SignatureError(error.reason, found.message, hint=error.hint) from None
    _print_verified(session, verified, int(moment) - verified.timestamp, read_facts(body))


def _print_verified(session: Session, verified: signature.Verified, age: int, facts: Facts) -> None:
    mode, ours = "live" if facts.livemode else "test", session.settings.mode
    if facts.livemode is not None and mode != ours:
        session.out.warn(f"It is an event of {mode} mode; this is {ours} mode.")
    when = iso(verified.timestamp).replace(".000Z", "Z")
    distance = f"{age} s ago" if age >= 0 else f"{-age} s ahead"
    session.out.result(
        {
            "object": "verification",
            "verified": True,
            "signed_at": when,
            "age_seconds": age,
            "secret": verified.secret_index + 1,
            "id": facts.id,
            "type": facts.type or None,
            "livemode": facts.livemode,
        },
        f"Verified: authentic and unaltered, signed {when} ({distance}).",
    )


def time_of(session: Session, text: str | None, name: str) -> float:
    """Unix seconds of a time that was typed for an option, else now; raises UsageError."""
    if text is None:
        return session.clock.now()
    if re.fullmatch(r"[0-9]{1,12}", text):
        seconds = float(text)
    else:
        seconds = moments(session, local=True).read(text, name).begin.timestamp()
    if not 0 <= seconds <= _LATEST:
        raise UsageError(
            f"{name} {text!r} is not a time.", param=name, hint="Write one from 1970 to year 9999"
        )
    return seconds


def read_payload(session: Session, payload: Path | None, *, piped: bool) -> bytes:
    """Reads the payload's raw bytes, at most one byte more than is ever verified.

    Raises:
        UsageError: the file cannot be read, or the secret is `piped` in on standard input, too.
    """
    if piped and (payload is None or str(payload) == "-"):
        raise UsageError(
            "The secret and the payload cannot both come on standard input.",
            param="--payload",
            hint="Give --payload FILE",
        )
    what = "The payload on standard input" if payload is None else f"The payload {payload}"
    with name_failure(f"{what} cannot be read", UsageError, param="--payload"):
        most = WEBHOOK_BODY_MAX + 1
        if payload is not None and str(payload) != "-":
            with payload.open("rb") as file:
                return file.read(most)
        stream = session.streams.stdin
        raw = getattr(stream, "buffer", None)
        return stream.read(most).encode() if raw is None else read_to_end(raw, most)
