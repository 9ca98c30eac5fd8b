"""Runs a batch of requests from a file, so that each row has its effect exactly once.

Begin with `run`. `reading` and `columns` read the file, `validate` turns its rows into requests,
`templates` does so with most rows of a CSV, `svc.delivery.plan` decides about each row,
and `run` sends the rows through `workers`. `tally` counts the outcomes, `results` writes them to
the results file, and `past_results` reads that of an earlier run. Only `cli` uses this room.

Promises, such as "promise R1", stand by their numbers in tests/PROMISES.md.
"""
