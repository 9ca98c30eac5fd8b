"""Sending what is open to its targets; begin at `dispatcher.Dispatcher`.

A `pump` for each target takes its events from the ledger of the inbox; `request` builds what is
sent over a connection of `svc.listen.http`, `signing` sees to signatures that are too old, `retry`
says when it is tried again and `health` how the target is. `pending_acks` holds the senders that
wait for an outcome; `replay` sends a kept delivery once more.
"""
