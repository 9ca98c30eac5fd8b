"""Delivery: decides whether a POST is sent and with which key, and what is known of it afterwards.

Single commands and batches are the same delivery (promise R112: one room decides for both). Begin
with `send`, which records a request, sends it and settles it; `sender` has what that takes,
`ending` what an end means, `account` whether two API keys belong to one account, `likeness` which
requests are the same. `journal` keeps each request in the state database. `cli` and `batch` use
this room.
"""
