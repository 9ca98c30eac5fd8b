"""HTTP/1.1 on sockets of our own; the one place of the client that knows h11, socket and ssl.

Why not a library: promises R9, R10 and R20 need what none of them says. One deadline over name
look-up, connecting, TLS and every read; whether any byte of a request left; caps on the header and
on the decoded body; no proxy, netrc, cookie or redirect behind our back.
"""
