"""The webhook receiver: requests in, statuses out; begin at `server.Receiver`.

`slots` says who is served now; `svc.listen.http` reads the bytes.
"""
