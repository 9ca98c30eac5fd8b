"""HTTP/1.1 on sockets of our own; the one place of the client that knows h11, socket and ssl.

`http` reads and says what is plain by itself, to be quick, and has h11 decide on everything else.

httpx could do most of it: one deadline over everything and whether a byte has left can be had by a
network backend of our own below it. Two things speak against that. Importing it costs every
command 19 to 34 ms, a fifth to a third of its time. And httpcore, which does the work below it,
begins the next cycle of a kept connection without a look at what lies behind an answer: such bytes
are then read as the answer to the next request, which for a program that moves money is the wrong
payment. Here a connection with a byte too many is closed (`connection.Connection.can_be_reused`).

`sockets` is where to begin; `exchange`, one room up, has the values that pass. Only `client`,
`sandbox` and `probe` send.
"""
