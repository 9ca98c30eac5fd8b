"""The top of the command tree as data, so that help needs no import and a command only its own."""

from importlib import import_module
from typing import Any, Final, NamedTuple


class Entry(NamedTuple):
    """One word after `svc`: the module that answers it and its line in `svc --help`."""

    module: str
    summary: str
    section: str


RESOURCES: Final = "Resources"
WEBHOOKS: Final = "Webhooks"
ACCOUNT: Final = "Account"
MORE: Final = "More"

COMMANDS: Final = {
    "orders": Entry(
        "orders", "Create, retrieve, update, capture, cancel and list orders.", RESOURCES
    ),
    "payments": Entry("payments", "Retrieve and list payments.", RESOURCES),
    "refunds": Entry("refunds", "Return all or part of a payment.", RESOURCES),
    "payouts": Entry("payouts", "Send money to receiving banks.", RESOURCES),
    "landed-cost-quotes": Entry("quotes", "Quote duties, taxes and fees.", RESOURCES),
    "disputes": Entry("disputes", "Answer disputes with evidence.", RESOURCES),
    "get": Entry("get", "Send any GET: an id or a /v1/ path.", RESOURCES),
    "post": Entry("post", "Send any POST to a /v1/ path.", RESOURCES),
    "batch": Entry("batch", "Run an operation for every row of a file.", RESOURCES),
    "events": Entry("events", "Retrieve events; receive, verify and forward webhooks.", WEBHOOKS),
    "webhook-endpoints": Entry("endpoints", "Register webhook endpoints.", WEBHOOKS),
    "requests": Entry("requests", "See what was sent; settle what has no known outcome.", ACCOUNT),
    "keys": Entry("keys", "Keep API keys in the OS keyring.", ACCOUNT),
    "profiles": Entry("profiles", "Name accounts and switch between them.", ACCOUNT),
    "config": Entry("config_commands", "Read and change settings.", ACCOUNT),
    "whoami": Entry("whoami", "Show profile, origin, mode and key in use.", ACCOUNT),
    "doctor": Entry("doctor", "Check this machine and the account, with remedies.", ACCOUNT),
    "sandbox": Entry("sandbox", "Run the whole service on this machine.", MORE),
    "quickstart": Entry(
        "quickstart", "See an order paid and its webhook arrive, in 15 seconds.", MORE
    ),
    "commands": Entry("commands", "List every command, for people or as data.", MORE),
    "completion": Entry("completion", "Complete commands, options and ids in your shell.", MORE),
    "help": Entry("help", "Read about exit codes, webhooks, assumptions and more.", MORE),
}

# Verbs of `svc events` with modules of their own: their imports are heavier than a GET's.
EVENT_VERBS: Final = {
    "listen": Entry("listen", "Receive webhooks, verify and forward them.", WEBHOOKS),
    "inbox": Entry("inbox", "Show what was received.", WEBHOOKS),
    "replay": Entry("replay", "Send received events again, signed anew.", WEBHOOKS),
    "verify": Entry("verify", "Check one delivery offline.", WEBHOOKS),
}

SHORT_NAMES: Final = {"quotes": "landed-cost-quotes"}


def load(name: str) -> Any:
    """Imports the module of one command and returns it as a Typer command or group."""
    return _command_of(name, COMMANDS[name])


def load_event_verb(name: str) -> Any:
    """The same for a verb of `svc events`."""
    return _command_of(name, EVENT_VERBS[name])


def _command_of(name: str, entry: Entry) -> Any:
    from typer.main import get_command

    command = get_command(import_module(f"svc.cli.{entry.module}").app)
    command.name = name
    return command
