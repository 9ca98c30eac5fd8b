"""Tunnels, by which the service reaches this machine: one file for each tunnel program.

Begin with `provider`, the interface that `ngrok`, `cloudflared` and `ssh` implement. `tunnel` keeps
one up and `program` runs it. `svc events listen` opens tunnels; `svc doctor` and `svc completion`
look for programs by `program`. None imports the rest of the listener.
"""

from typing import Final

REMOTE_PORT: Final = 4243  # of a server that is reached by ssh
