"""The topics of `svc help`: their names and lines, so that listing them imports none."""

from importlib import import_module
from typing import Final

from svc.cli.topics.page import Page

ASSUMPTIONS: Final = "assumptions"
TOPICS: Final = {
    "exit-codes": ("exit_codes", "What the exit status of a command means."),
    "environment": ("environment", "Every variable that svc reads."),
    "output": ("output", "Formats, queries, and where errors go."),
    "webhooks": ("webhooks", "Receiving events: verify, answer, skip, replay."),
    "money": ("money", "Amounts in minor units; paying once."),
    "sandbox": ("sandbox", "The service on this machine: keys, test cards, time."),
    "ci": ("ci", "Running svc where nobody watches."),
    ASSUMPTIONS: ("assumptions", "What the specification says, and what we chose."),
}


def page_of(topic: str) -> Page:
    """The page of a topic, `assumptions` excepted; KeyError if there is none."""
    page: Page = import_module(f"svc.cli.topics.{TOPICS[topic][0]}").PAGE
    return page
