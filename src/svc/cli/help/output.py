"""`svc help output`."""

from typing import Final

from svc.cli.framework.options import FORMATS
from svc.cli.help.page import Heading, Page, Rows, Shown

MEANINGS: Final = {
    "human": "For people: labelled fields, tables, money with decimals, local times.",
    "json": "What the service sent: same keys, order and numbers. With --all, one array.",
    "ndjson": "One object a line, as pages arrive: for lists of any length.",
    "csv": "One row an object; svc batch takes it back.",
    "id": "Ids only, one a line.",
}

PAGE: Final = Page(
    "Output",
    (
        "On a terminal svc prints for people, in a pipe it prints JSON. -o chooses:",
        Rows(tuple((name, MEANINGS[name]) for name in FORMATS)),
        """
        Results go to stdout and everything else to stderr. In any format but human an error is
        one JSON object on stderr, {"error": {...}}, with all its keys always there. JSON has
        colours on a terminal, and nowhere else.
        """,
        """
        --query takes a JMESPath expression over the whole result, with --all over all pages.
        --raw prints texts that it finds without quotes. --fields names the columns of lists and
        csv.
        """,
        Shown(
            (
                "order=$(svc orders create --body order.json -o id)",
                "svc payments list --status failed --query 'data[].[id, failure_code]'",
                "svc orders list --all -o csv --fields id,status,amount_total > orders.csv",
            )
        ),
        Heading("Times"),
        """
        Options that take a time take 2026-11-21, 2026-11-21T09:00, yesterday, or 7d for so long
        ago; --created-lte 2026-11-21 has the whole of that day. Without a zone a time is local,
        with --utc it is UTC. A duration counts from the clock of a sandbox that may be turned.
        --dry-run shows what is sent.
        """,
        Heading("What you can rely on"),
        """
        Within a major version these stay: names of commands and options, exit codes, variables,
        the keys of the error object, the records and keys of events listen -o ndjson, batch
        results and the summaries of svc's own commands, and the columns of csv --fields. New keys,
        commands and options may come at any time: leave what you do not know.
        """,
        """
        What the service sends is passed on as it is. It changes with --api-version alone, which
        you can fix in a profile.
        """,
        """
        Not to rely on: everything of -o human, messages and hints, the order of keys, the files
        in svc's folders. There is no public Python API. A change of what stays would come with a
        new major version, and a warning on stderr in the version before.
        """,
        Heading("Odd characters"),
        """
        Text that came from elsewhere is shown with its control characters spelled out. Cells of
        a csv that a spreadsheet would run begin with a quote, unless --raw-csv is given.
        """,
    ),
)
