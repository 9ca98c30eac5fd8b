"""A team's shared log: NATS JetStream behind the seams `Source` and `Inbox`.

Begin with `connection`, through which all goes; `streams` says what the log has to be, `inboxes`
puts events into it, `group` and `own_cursor` read them, `checks` doubts it. Nothing outside of this
package imports nats, and nothing in it is imported before a command names a log: by `svc events`
and `svc doctor`.
"""
