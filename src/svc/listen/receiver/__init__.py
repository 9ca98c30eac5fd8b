"""The webhook receiver: requests in, statuses out; begin at `server.Receiver`.

`http` reads bytes, `slots` says who is served now. The inspector's server is one as well.
"""
