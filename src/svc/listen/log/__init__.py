"""A team's shared log: NATS JetStream behind the seams `Source` and `Inbox`.

Nothing outside of this package imports nats, and nothing in it is imported before a command names
a log.
"""
