"""The webhook receiver: requests in, statuses out; begin at `server.Receiver`."""
