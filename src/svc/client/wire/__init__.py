"""HTTP/1.1 over svc's own sockets; the only part of the client that uses h11, socket and ssl.

Begin with `sockets`. `http` encodes and parses unambiguous messages itself, which is fast, and
leaves all others to h11. `exchange`, in the folder above, has the values that pass. Only `client`,
`sandbox` and `probe` send requests.

httpx could do most of it: a network backend of our own below it would give one deadline for the
whole exchange, and whether a byte was sent. There are two reasons against it. Its import takes 19
to 34 ms of every command, a fifth to a third of its time. And httpcore, the library below it, does
not check for bytes after an answer before it reuses a connection: it would read them as the answer
to the next request, and a program that moves money would report the wrong payment. Here a
connection with surplus bytes is closed (`connection.Connection.can_be_reused`).
"""
