"""Sending requests to the service: at most four identical attempts, one definite outcome.

A request is a value first (`call`; one for each resource in `resources/`), then bytes (`request`),
then what an attempt means (`reply`, `refusal`, `retry`), and in the end an answer or an error
(`ending`). `client` puts these together and is where to begin; `sandbox` is the same for the
controls of a sandbox. `wire/` has the sockets, `journal/` each POST before its first byte leaves.

`cli` and `batch` use this room; it knows neither them nor a terminal, a file of the user's or a key
that nobody has given it.
"""
