"""Delivery: decides whether a POST is sent and with which key, and what is known of it afterwards.

Single commands and batches are the same delivery (promise R112: one room decides for both). Begin
with `journal`, which keeps each request in the state database; `likeness` says which requests are
the same. `cli` and `batch` use this room.
"""
