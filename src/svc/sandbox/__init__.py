"""The whole service on this machine: its rules, its state, its HTTP API and its process.

A request enters by `app`, is read in `http/` and `parameters/`, goes through the checks of `api/`
and reaches a noun in `resources/`, which is where to begin: each has its parameters, its states,
its actions and the schema of its answer in one file. `store/` keeps what it did, in one transaction
with the events that `webhooks/` delivers; `jobs/` is what happens by itself as `clock` goes on.
`control/` is what only a sandbox has, `faults/` what goes wrong on purpose, `checkout/` the
shopper's pages, `openapi/document.py` describes all that is served, and `fidelity/` says which of
it the specification says and which we chose. The caller of `app` passes a clock and what sends
(`webhooks/sender.py`), or takes the real ones.

`cli` starts and stops it as a process and uses its tables of words; no other room imports it. It
knows nothing of the client but facts (`svc.service.facts`), money and signing.


Promises, such as "promise R1", stand by their numbers in tests/PROMISES.md.
"""
