"""The journal of POSTs: each is recorded before it is sent and settled afterwards.

Begin with `journal`. `entry` has the stored values, `refusals` the errors for requests that are not
sent (again), `batches` the names of batches and the keys of their rows. The tables are in the state
database.
"""
