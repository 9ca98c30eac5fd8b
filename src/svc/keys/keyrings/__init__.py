"""The keyring backends: begin with `backend`, their interface.

`choice` selects those that may be used on this system. Only `keys.store` reads and writes them;
`svc doctor` reads their names from `choice`.
"""
