"""The OpenAPI document of the documented API, made from the tables that the sandbox checks with.

Begin with `document`. `svc.sandbox.app` builds its table of `/v1` routes from the same operations
and has `control` serve the document at `/_sandbox/openapi.json`.
"""
