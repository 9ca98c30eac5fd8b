"""Tunnels, by which the service reaches this machine: one file for each tunnel program.

Begin with `provider`, the protocol; `ngrok`, `cloudflared` and `ssh` are what it knows. `tunnel`
keeps one up and `program` runs it. The verbs of `svc events` and `svc doctor` use them; none
imports the rest of the listener.
"""

from typing import Final

REMOTE_PORT: Final = 4243  # of a server that is reached by ssh
