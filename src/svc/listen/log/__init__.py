"""A team's shared log of events in NATS JetStream: a `Source` and an `Inbox` of a listener.

Begin with `connection`, which every call passes through. `streams` says how the log is configured,
`inboxes` publishes events to it, `group` and `log_cursor` read them, and `checks` verifies it.
Only this package imports nats. It is loaded only by a command that names a log: by `svc events` and
`svc doctor`.
"""
