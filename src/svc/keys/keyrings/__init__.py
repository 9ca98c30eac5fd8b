"""The keyrings themselves: begin with `backend`, what one of them can do.

`choice` says which may be used on this system; `store` alone reads and writes them. `svc doctor`
asks `choice` for their names.
"""
