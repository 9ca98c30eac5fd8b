"""Delivery: decides whether a POST is sent and with which key, and records its outcome.

Single commands and batches use the same rules (promise R112: one room decides for both). Begin with
`policy`, the two tables of decisions. `evidence` determines the outcome of a request, `likeness`
finds duplicates, `account` compares the accounts of two API keys. `send` records a request, sends
it, settles it, and turns its outcome into a result or an error. For a batch, `plan` and `planner`
decide about each row, `edits` finds rows that are done in other words, `rows` records and settles
rows in groups. `hints` has the next command for each decision. `journal` stores all requests in the
state database. `cli` and `batch` use this room.

Promises, such as "promise R1", stand by their numbers in tests/PROMISES.md.
"""
