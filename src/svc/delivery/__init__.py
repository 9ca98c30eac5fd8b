"""Delivery: decides whether a POST is sent and with which key, and what is known of it afterwards.

Single commands and batches are the same delivery (promise R112: one room decides for both). Begin
with `policy`, the two tables of what may be sent; `evidence` says what is known of a request,
`likeness` which requests are the same, `account` whether two API keys belong to one account.
`send` records a request, sends it and settles it with what `sender` holds, and `ending` says what
its end means; of a batch, `plan` says what becomes of each row, `before` what is read first, `rows`
records and settles them in groups. `hints` has the next command for each decision, `journal` keeps
it all in the state database. `cli` and `batch` use this room.

Promises, such as "promise R1", stand by their numbers in tests/PROMISES.md.
"""
