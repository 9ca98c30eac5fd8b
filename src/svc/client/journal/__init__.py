"""The journal of POSTs: each is recorded before it is sent and settled afterwards.

`journal` is where to begin, `entry` what is kept, `identity` what makes two requests the same one,
`refusals` why a request is not sent (again), `lists` which rows of a batch belong together. The
tables are the state database's.
Commands and `batch` use it, `client` itself does not.
"""
