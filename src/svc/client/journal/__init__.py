"""The journal of POSTs: each is recorded before it is sent and settled afterwards."""
