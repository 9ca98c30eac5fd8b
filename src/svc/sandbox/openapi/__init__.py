"""The OpenAPI document of the documented API, made from the tables that the sandbox checks with.

`svc.sandbox.app` serves it at a path of its own; begin with `document`.
"""
