"""Sends requests to the service: at most four identical attempts, one definite outcome.

Begin with `client`. `operations` builds a request as a value (`call`), `request` encodes it to
bytes, `reply`, `refusal` and `retry` classify the result of an attempt, and `ending` builds the
error of a failed call. `sandbox` sends calls to the controls of a sandbox. `wire/` has the sockets.

`cli`, `batch` and `delivery` use this room. It does not import them, and knows no terminal, no file
that the user names and no key that was not passed to it. It knows one thing of the command line:
`options`, the spelling of each field there, because errors give advice in these words.

Promises, such as "promise R1", stand by their numbers in tests/PROMISES.md.
"""
