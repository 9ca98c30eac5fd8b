"""Running a batch of requests from a file, so that each row happens exactly once.

A file is read (`reading`, `columns`), its rows become requests (`validate`), and `run` sends what
`svc.delivery.plan` leaves to be sent, through `workers`. What became of all rows is in `tally`, and
goes into the `results` file. `run` is where to begin; only `cli` uses this room.

Promises, such as "promise R1", stand by their numbers in tests/PROMISES.md.
"""
