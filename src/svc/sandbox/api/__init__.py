"""The documented API: every `/v1` request through its checks, in their order."""
