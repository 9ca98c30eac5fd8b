"""The noun `svc sandbox`, which several modules give verbs to."""

from svc.cli.app import new_noun

app = new_noun("Run the whole service on this machine.")
