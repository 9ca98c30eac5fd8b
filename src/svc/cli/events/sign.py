"""`svc events sign`: prints the signature header of a payload, for tests of a handler.

A file of payload bytes in, the `Svc-Signature` header out: `svc.signature` computes it with a
secret from `secrets`.
"""

from pathlib import Path

from svc.cli.events.secrets import signing_secrets
from svc.cli.events.verify import PAYLOAD, SECRET_STDIN, read_payload, time_of
from svc.cli.framework.app import make_app, verb
from svc.cli.framework.options import option
from svc.cli.framework.session import Session
from svc.errors import UsageError
from svc.listen.output_records import iso
from svc.service.facts import SIGNATURE_HEADER, WEBHOOK_BODY_MAX
from svc.signature import header_value

app = make_app()


@verb(app)
def sign(
    session: Session,
    payload: Path | None = PAYLOAD,
    secret_stdin: bool = SECRET_STDIN,
    endpoint: str | None = option("ID", "The endpoint whose secret signs it: we_..."),
    now: str | None = option(
        "TIME",
        "The time of the signature: 10m (ago) for one that is too old.",
        show_default="now",
    ),
) -> None:
    """Print the Svc-Signature header of a payload, signed as the service signs.

    The secret comes from SVC_WEBHOOK_SECRET, from standard input, or from your own endpoint. The
    header is printed bare, unless -o asks for JSON; the bytes that are sent must be those of FILE.

    $ svc events sign --payload body.json
    """
    moment = int(time_of(session, now, "--now"))
    piping = "--secret-stdin --payload FILE < SECRET"
    secrets = signing_secrets(session, endpoint, piped=secret_stdin, piping=piping)
    body = read_payload(session, payload, piped=secret_stdin)
    if len(body) > WEBHOOK_BODY_MAX:
        raise UsageError(f"The payload is over {WEBHOOK_BODY_MAX} bytes.", param="--payload")
    value = header_value(body, secrets, moment)
    if session.settings.output in (None, "human"):
        session.out.line(f"{SIGNATURE_HEADER}: {value}")
        return
    signed_at = iso(moment).replace(".000Z", "Z")
    session.out.value(
        {"object": "signature", "header": SIGNATURE_HEADER, "value": value, "signed_at": signed_at},
        name="value",
    )
