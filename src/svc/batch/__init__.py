"""Running a list of requests from a file, so that each row happens exactly once.

A file is read (`reading`, `columns`), its rows become requests (`validate`), these are compared
with what the journal knows of the list (`plan`), and `run` sends what is left through `workers`.
What became of a row is in `outcome`, of all of them in `tally`, and goes into the `results` file.
`run` is where to begin; only `cli` uses this room.
"""
