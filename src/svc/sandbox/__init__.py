"""The whole service on this machine: its rules, its state, its HTTP API and its process.

A request enters by `app`, is read in `http/` and `parameters/`, goes through the checks of `api/`
and reaches a noun in `resources/`, which is where to begin: each file there has the states and the
actions of one noun, whose fields and verbs `svc.service` describes. `store/` keeps what an action
did, in one transaction with the events that `webhooks/` delivers; `jobs/` is what happens by itself
as `clock` goes on. `control/` is what only a sandbox has, `faults/` what goes wrong on purpose,
`checkout/` the shopper's pages, `openapi/document.py` describes `/v1` for other tools, and
`fidelity/` says which behaviour the specification shows and which we chose. The caller of `app`
passes a clock and a sender of webhooks (`webhooks/sender.py`), or takes the real ones.

`cli` starts and stops a sandbox as a process and uses its tables of words; besides it only the
pytest plugin imports this room. The sandbox imports nothing of the client: only `svc.service` and
the modules below all rooms, such as money, signing, errors and `system`.

Promises, such as "promise R1", stand by their numbers in tests/PROMISES.md.
"""
