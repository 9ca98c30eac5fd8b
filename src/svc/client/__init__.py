"""Sending requests to the service: at most four identical attempts, one definite outcome.

A request is a value first (`call`, made by `operations`), then bytes (`request`),
then what an attempt means (`reply`, `refusal`, `retry`), and in the end an answer or an error
(`ending`). `client` puts these together and is where to begin; `sandbox` is the same for the
controls of a sandbox. `wire/` has the sockets.

`cli`, `batch` and `delivery` use this room; it knows neither them nor a terminal, a file that the
user names or a key that was not passed to it. Of a command line it knows
one thing: `options`, how a described field is typed there, because an error gives advice in those
words.

Promises, such as "promise R1", stand by their numbers in tests/PROMISES.md.
"""
