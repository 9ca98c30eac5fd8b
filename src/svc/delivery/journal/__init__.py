"""The journal of POSTs: each is recorded before it is sent and settled afterwards.

`journal` is where to begin, `entry` what is kept, `refusals` why a request is not sent (again),
`batches` which rows of a file belong together. The tables are the state database's.
"""
