"""`svc events listen`: receives deliveries, verifies and keeps them, and forwards them to targets.

Everything goes one way: `receiver` (bytes), `verify`, `inbox` (the disk), `forward` (targets).
`ingest` and `forward.dispatcher` are the two halves, which share the inbox and nothing else;
`listener` puts them together as a `plan` says. `inspector` is the page, `tunnels` the ways in from
outside. Only `cli` imports this package. Begin at `listener.Listener.run`.

Promises, such as "promise R1", stand by their numbers in tests/PROMISES.md.
"""
