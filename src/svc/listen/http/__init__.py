"""HTTP/1.1 as a listener reads and writes it; begin at `wire`, the parser of both ends.

`requests` are read for the receiver, `answers` from targets. A `connection` sends to one target,
over what `dial` opens.
"""
