"""The page `svc help webhooks`: receiving, verifying and forwarding, with the figures in use.

`help.page` imports `PAGE` when the topic is shown.
"""

from typing import Final

from svc.cli.framework.figures import figure
from svc.cli.help.page import Definitions, Heading, Page, ShellLines, WordList
from svc.listen.commands import RUN_SECONDS
from svc.listen.tunnels import REMOTE_PORT
from svc.service import facts

_HOURS: Final = facts.WEBHOOK_RETRY_WINDOW_SECONDS // 3600
_EVERY: Final = facts.WEBHOOK_RETRY_INTERVAL // 3600
_DELAYS: Final = ", ".join(f"{delay // 60} min" for delay in facts.WEBHOOK_RETRY_DELAYS)
_TOLERANCE: Final = figure("signature_minutes")
_LATE: Final = figure("late_minutes")
_FORWARDED: Final = figure("forwarded_days")
_DEADLINE: Final = facts.WEBHOOK_DEADLINE_SECONDS
_LAYOUT: Final = f"{facts.SIGNATURE_HEADER}: t=<unix seconds>,v1=<hex>"
_KEYED: Final = (
    "HMAC-SHA256 of <t>.<body> with the whole secret as key, over the bytes as they came"
)

# Ten lines on a terminal of 80 columns; a test counts them.
_AWAY: Final = {
    "handler down": "Deliveries are kept and answered 200; all are forwarded when it is back, "
    f"signed anew if they are older than {_LATE} minutes.",
    "svc down": f"The service repeats for {_HOURS} hours; what was kept and not forwarded is "
    "forwarded by the next run of the same command.",
    "sender down": "Kept events stay; no repeated delivery is forwarded again.",
    "disk full": "Answered 503 with one warning; the service sends it again. "
    "A damaged or lost database "
    "ends the listener (10) and says what is kept where.",
    "secret rolled": "A sandbox's new secret is used at once. For a real service, svc names the "
    "next command after three wrong signatures in a row.",
}

_RUN: Final = {
    "SVC_EVENT_ID": "The event's id, by which a command knows what it has done already.",
    "SVC_EVENT_TYPE": "Its type; SVC_OBJECT_ID is the id of its object, or empty.",
    "SVC_REDELIVERED": "Set, to a number, when the event may have been given to a run before.",
    "order": "One run at a time for each object, also if several targets get its events; in all up "
    "to --concurrency runs of a command at once. A group of a team's log has no order.",
    "no shell": "Quotes separate arguments, and nothing is expanded. To run a line of shell, use "
    "sh -c. "
    "It runs in the folder in which svc was started.",
    "no secret": "SVC_API_KEY, SVC_WEBHOOK_SECRET and SVC_LOG_CREDENTIALS are kept from it.",
    "end": f"After --run-timeout ({RUN_SECONDS:g} s), and with the listener, a run is ended with "
    "its children. What it leaves in the background ends with it, unless it has a session of its "
    "own (setsid).",
    "output": "Of each run the first 4 KiB are kept, secrets masked.",
}

PAGE: Final = Page(
    "Webhooks",
    (
        "Fulfil orders when order.paid arrives, not when the browser comes back.",
        ShellLines(
            (
                "svc events listen --forward-to http://localhost:3000/webhooks",
                "svc events listen --forward-to 'order.*=:3000/orders' --inspect",
            )
        ),
        f"""
        The listener verifies each delivery over its raw bytes, writes it to disk, answers, and
        forwards the same bytes with the original signature, or a new one after {_LATE} minutes
        (Svc-Original-Signature has the first). An event that may come twice carries
        Svc-Redelivered. A delivery that is not authentic is answered 400 and not forwarded. Your
        own handler should do the same:
        """,
        Definitions(
            (
                ("verify", f"{_LAYOUT}. {_KEYED}."),
                ("reject", f"A signature that is older than {_TOLERANCE} minutes."),
                ("answer", f"With 2xx within {_DEADLINE} seconds; do the work afterwards."),
                ("skip", "Event ids that you have processed: the same event may come twice."),
                ("retrieve", "The object, if order matters: events may overtake each other."),
            )
        ),
        f"""
        A failed delivery is repeated after {_DELAYS}, then every {_EVERY} hours, for {_HOURS}
        hours.
        """,
        f"There are {len(facts.EVENT_TYPES)} event types:",
        WordList(facts.EVENT_TYPES),
        Heading("Your handler"),
        """
        The listener can run it: --exec starts a command once deliveries can come, with the signing
        secret in SVC_WEBHOOK_SECRET, and ends with it. --print-secret shows the secret.
        """,
        ShellLines(
            (
                "svc events listen --forward-to 3000 --exec 'python3 handler.py'",
                "svc events listen --print-secret",
            )
        ),
        """
        For a test, --until order.paid ends when that event has come; --timeout says how long to
        wait, and --strict fails if anything was rejected or not taken: svc help ci.
        """,
        f"""
        --inspect serves a page on this machine, at port {facts.INSPECTOR_PORT} unless another is
        given: each delivery with its headers, verdict and answers, and a button that sends it
        again.
        """,
        """
        svc events examine tests it with forged, repeated, reordered and broken deliveries: svc help
        examine.
        """,
        Heading("Commands instead of a handler"),
        """
        --run TYPE=COMMAND runs a program for each event, with its payload on standard input; exit
        code 0 takes the event. After any other exit code the event is kept and tried again, as
        after a target's 500. A program that is missing counts as a target that is away.
        """,
        ShellLines(
            (
                "svc events listen --run 'order.paid=./fulfil.sh' --run-timeout 30",
                "svc events listen --run '*=sh -c \"jq -r .id >> events.txt\"'",
            )
        ),
        Definitions(tuple(_RUN.items())),
        Heading("When something is away"),
        Definitions(tuple(_AWAY.items())),
        Heading("As a service of systemd"),
        """
        SIGTERM ends the listener with exit code 143: tell systemd that this is success. svc
        notifies systemd (NOTIFY_SOCKET) when deliveries can come, and when a sandbox is ready.
        """,
        ShellLines(
            (
                "[Unit]",
                "Description=Webhooks to the shop",
                "After=network-online.target",
                "[Service]",
                "Type=notify",
                "ExecStart=%h/.local/bin/svc events listen --forward-to 3000 -o ndjson",
                "SuccessExitStatus=143",
                "Restart=on-failure",
                "[Install]",
                "WantedBy=default.target",
            )
        ),
        """
        In ~/.config/systemd/user/svc-listen.service; start it with systemctl --user enable --now
        svc-listen. For a sandbox beside it, a second unit with its own ExecStart:
        """,
        ShellLines(
            (
                "[Service]",
                "Type=notify",
                "ExecStart=%h/.local/bin/svc sandbox start -o ndjson",
                "SuccessExitStatus=143",
            )
        ),
        Heading("What was received"),
        f"""
        Every verified delivery is kept. --pending lists those still to be forwarded, by the next
        listener or by replay; --failed those that a target refused, which stay until you prune
        them. Forwarded ones are kept for {_FORWARDED} days.
        """,
        ShellLines(
            (
                "svc events inbox --failed --pending",
                "svc events inbox show evt_...",
                "svc events replay --failed",
            )
        ),
        "To find out why a delivery does not verify:",
        ShellLines(('svc events verify --header "$SIGNATURE" --payload body.json --secret-stdin',)),
        """
        Where the secret of the listener's own endpoint was rolled in the dashboard, give both
        secrets: the endpoint stays the same, and the new secret is kept for later runs.
        """,
        ShellLines(("SVC_WEBHOOK_SECRET=NEW,OLD svc events listen --forward-to 3000",)),
        Heading("Tunnels"),
        """
        A sandbox on this machine needs none. From a service elsewhere, --tunnel leads deliveries
        here:
        """,
        Definitions(
            (
                ("auto", "cloudflared or ngrok, whichever is installed; this is the default."),
                ("cloudflared, ngrok", "That one."),
                (
                    "ssh:YOU@HOST",
                    f"Your server: its port {REMOTE_PORT} leads here, its web server adds https.",
                ),
                ("none", "With --public-url URL and --port: a tunnel that you run yourself."),
            )
        ),
    ),
)
