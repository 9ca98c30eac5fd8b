"""Receiving webhooks: verify, keep, answer, forward. Prints nothing; tells what happens."""
