"""`svc help reminders`."""

from typing import Final

from svc.cli.help.page import File, Heading, Page, Shown

TIMER: Final = """
# svc-keys.service
[Service]
Type=oneshot
ExecStart=%h/.local/bin/svc keys remind --format text

# svc-keys.timer
[Timer]
OnCalendar=Mon 09:00
Persistent=true

[Install]
WantedBy=timers.target
"""

WORKFLOW: Final = """
on:
  schedule:
    - cron: "0 9 * * 1"
jobs:
  keys:
    runs-on: ubuntu-latest
    steps:
      - run: pipx install "$SVC_SOURCE"
        env:
          SVC_SOURCE: ${{ vars.SVC_SOURCE }}
      - run: svc keys remind --created 2025-10-01 --format github
        env:
          SVC_API_KEY: ${{ secrets.SVC_API_KEY }}
"""

PAGE: Final = Page(
    "Reminders",
    (
        """
        svc keys remind says which API keys and signing secrets are due to be replaced: overdue
        after --max-age (90 days), due from --warn (14 days) before. It ends with 11 if one is
        overdue. It reads no key; the age is that of the note which svc keys add and svc keys roll
        leave, and it also says until when a rolled key's old one works. At a terminal, other
        commands show one line about it, once a day.
        """,
        Heading("cron"),
        """
        A weekly line for crontab -e. Cron mails what comes on stderr, which is something only if a
        key is overdue:
        """,
        Shown(("0 9 * * 1  svc keys remind --format text > /dev/null",)),
        Heading("systemd"),
        """
        A timer, in two files of ~/.config/systemd/user/. An overdue key is a failed unit
        (systemctl --user --failed). Start it with systemctl --user enable --now svc-keys.timer:
        """,
        File(TIMER),
        Heading("A scheduled workflow of GitHub"),
        """
        For a key that lies in a repository's secrets. Write down when you made it, for nobody else
        knows. What is due becomes an annotation, and an overdue key fails the run. SVC_SOURCE is
        where you keep svc: svc help ci.
        """,
        File(WORKFLOW),
        Heading("A calendar"),
        "Importing a newer file moves the events of the older one:",
        Shown(("svc keys remind --format ics > keys.ics",)),
        Heading("Replacing a key"),
        """
        Keys are rolled in the dashboard. svc keys roll leads you there, asks for the new key
        without echo (or takes it by --stdin), checks that it is of the same kind, mode and account
        as far as that can be told, and says when it cannot. At every moment of the swap a working
        key is in the keyring. A batch that stopped on the old key goes on under the new one with
        the same idempotency keys.
        """,
        Shown(("svc keys roll --grace 1d",)),
    ),
)
