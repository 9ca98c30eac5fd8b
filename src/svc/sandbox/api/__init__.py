"""The documented API: takes every `/v1` request through its checks, in their order.

`svc.sandbox.app` passes it the requests below `/v1/`. Begin with `requests`; `idempotency` replays
the stored result of a key, and `memory` has the log of requests and the fault rules.
"""
