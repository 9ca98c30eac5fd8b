"""HTTP/1.1 as a listener reads and writes it; begin at `wire.plain_head`, the parser of all of it.

`requests` are read for the receiver, `answers` from targets. A `connection` sends to one target,
over what `dial` opens.
"""
