"""Fault rules: what goes wrong on purpose, in the API and on the way to a receiver of webhooks."""
