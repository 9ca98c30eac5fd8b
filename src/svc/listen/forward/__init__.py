"""The forwarding half of a listener: sends kept events to their targets, and retries.

Begin with `dispatcher`. A `pump` for each target takes its events from the ledger of the inbox;
`request` builds what is sent over a connection of `svc.listen.http`, `signing` signs late events
anew, `retry` says when to try again, and `health` how the target is. `pending_acks` holds the
senders that wait for an outcome; `replay` sends a kept delivery once more.
"""
