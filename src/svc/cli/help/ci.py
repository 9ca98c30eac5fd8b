"""`svc help ci`."""

from typing import Final

from svc.cli.help.page import File, Heading, Page, Rows, Shown

_LISTEN: Final = "svc events listen --forward-to 3000 --until order.paid --timeout 60 --strict"

SCRIPT: Final = r"""#!/bin/sh
# Tests a webhook handler: an order is paid in a sandbox, and the handler has to take order.paid.
set -eu
PORT=${PORT:-3000}
export PORT

port=$(svc sandbox start --detach --port 0 --db :memory: --query port)
trap 'svc sandbox stop --port "$port" >/dev/null' EXIT
eval "$(svc sandbox env --port "$port")"

# The listener runs the command once it is ready, with the signing secret in its environment, and
# ends when the event has been taken. It exits with 11 if that takes longer, if a delivery is
# rejected or not taken, or if the command fails.
svc events listen -o ndjson --forward-to "$PORT/webhooks" --until order.paid --timeout 60 --strict \
  --exec 'python3 handler.py & svc sandbox trigger order.paid -o id' >events.ndjson

test -s paid.txt
echo "order.paid was taken: $(cat paid.txt)"
"""
WORKFLOW: Final = r"""name: webhooks
on: push

jobs:
  handler:
    runs-on: ubuntu-latest
    timeout-minutes: 5
    env:
      PORT: "3000"
      SVC_SOURCE: ${{ vars.SVC_SOURCE }} # as git+https://git.example.com/you/svc-cli@main
    steps:
      - uses: actions/checkout@v4

      - name: Install svc
        run: pipx install "$SVC_SOURCE"

      - name: Start a sandbox
        run: |
          port=$(svc sandbox start --detach --port 0 --db :memory: --query port)
          echo "SANDBOX_PORT=$port" >>"$GITHUB_ENV"
          svc sandbox env --port "$port" | sed 's/^export //' >>"$GITHUB_ENV"

      - name: Pay an order and see the handler take order.paid
        run: |
          svc events listen -o ndjson --forward-to "$PORT/webhooks" --until order.paid \
            --timeout 60 --strict --ready-file ready.json >events.ndjson &
          listener=$!
          until test -f ready.json || ! kill -0 "$listener"; do sleep 0.1; done
          test -f ready.json || wait "$listener"

          SVC_WEBHOOK_SECRET=$(svc events listen --print-secret) python3 handler.py &
          trap "kill $!" EXIT
          svc sandbox trigger order.paid -o id

          wait "$listener"
          test -s paid.txt

      - name: Show what was delivered
        if: always()
        run: |
          cat events.ndjson
          svc events inbox -o csv --fields id,type,state,status

      - name: Stop the sandbox
        if: always()
        run: svc sandbox stop --port "$SANDBOX_PORT"
"""

PAGE: Final = Page(
    "CI",
    (
        """
        Nothing prompts without a terminal, output is JSON in a pipe, and the key comes from
        SVC_API_KEY: store it as a secret of your CI, never in the repository.
        """,
        """
        A test against the service needs no account: start the sandbox beside it. Port 0 takes a
        free port and :memory: no file, so that jobs on one machine do not meet.
        """,
        Shown(
            (
                "port=$(svc sandbox start --detach --port 0 --db :memory: --query port)",
                'eval "$(svc sandbox env --port $port)"',
                "order=$(svc orders create --body order.json -o id)",
                "svc sandbox pay $order -o id",
                "svc sandbox stop --port $port",
            )
        ),
        """
        Where there is no such sandbox, `sandbox env` prints `false`: a script with set -e ends
        there. The sandbox listens on loopback only: a container of its own reaches it where the two
        share a network, as with network_mode: service:NAME in Compose, or in one pod.
        """,
        Heading("A webhook handler"),
        "The listener runs the handler and what makes the event, and ends when it has been taken:",
        Shown((f"{_LISTEN} --exec './handler & svc sandbox trigger order.paid -o id'",)),
        Rows(
            (
                ("--exec CMD", "Begins when deliveries can come; SVC_WEBHOOK_SECRET is set."),
                ("--until TYPE[:N]", "The events to wait for; without it, CMD's end is the end."),
                ("--timeout N", "Exit 11 after N seconds."),
                ("--strict", "Exit 11 if a delivery was rejected or not taken."),
                ("--ready-file F", "For steps of their own: F is there once deliveries can come."),
                ("-o ndjson", "One record a line, to keep with the job."),
            )
        ),
        Heading("As a script"),
        """
        It pays an order and fails unless the handler took order.paid. handler.py is in the README.
        """,
        File(SCRIPT),
        Heading("As a workflow of GitHub"),
        """
        SVC_SOURCE is a variable of your repository (Settings, Variables): where you keep svc, as a
        Git address or the address of a wheel.
        """,
        File(WORKFLOW),
        Heading("What to do with the outcome"),
        """
        Exit codes tell what to do: 7 is an unknown outcome to be settled, 8 can be run again, 9
        and 11 are results of checks. See svc help exit-codes.
        """,
        """
        Each POST takes --idempotency-key. Derive it from the job, and a job that is run again
        within 24 hours pays once.
        """,
        Shown(('svc payouts create --body payout.json --idempotency-key "payout-$BUILD_ID"',)),
        "In live mode, what moves money needs --live --yes.",
        Heading("A key that grows old"),
        """
        A scheduled job says when a key in a CI's secrets is to be replaced; nobody else knows when
        you made it. See svc help reminders.
        """,
        Shown(("svc keys remind --created 2025-10-01 --format github",)),
    ),
)
