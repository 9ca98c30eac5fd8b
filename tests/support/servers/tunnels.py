"""Programs that print what cloudflared and ngrok print, as users have shown it in public reports.

The real ones need accounts or a network. What they print is taken from cloudflare/cloudflared
issues 735, 946 and 1173 and from inconshreveable/ngrok issues 66, 822 and 937 (there as logfmt,
here as the JSON that ngrok 3 writes); names and times are changed.
"""

import json
import os
from pathlib import Path

_CLOUDFLARED = """\
2023-04-18T14:06:46Z INF Thank you for trying Cloudflare Tunnel. Doing so, without a Cloudflare account, is a quick way to experiment and try it out. If you intend to use Tunnels in production you should use a pre-created named tunnel by following: https://developers.cloudflare.com/cloudflare-one/connections/connect-apps
2023-04-18T14:06:46Z INF Requesting new quick Tunnel on trycloudflare.com...
2023-04-18T14:06:49Z INF +--------------------------------------------------------------------------------------------+
2023-04-18T14:06:49Z INF |  Your quick Tunnel has been created! Visit it at (it may take some time to be reachable):  |
2023-04-18T14:06:49Z INF |  https://{name}.trycloudflare.com                                     |
2023-04-18T14:06:49Z INF +--------------------------------------------------------------------------------------------+
2023-04-18T14:06:49Z INF Cannot determine default configuration path. No file [config.yml config.yaml] in [~/.cloudflared ~/.cloudflare-warp ~/cloudflare-warp /etc/cloudflared /usr/local/etc/cloudflared]
2023-04-18T14:06:49Z ERR Configuration file /dev/null was empty
2023-04-18T14:06:49Z INF Version 2023.4.0
2023-04-18T14:06:49Z INF Starting metrics server on 127.0.0.1:33575/metrics
"""
CONNECTED = "2024-02-08T06:25:48Z INF Registered tunnel connection connIndex=0 connection=830bf962-7674-4e02-b648-65177c832c67 event=0 ip=198.41.192.167 location=lax08 protocol=quic\n"
CONNECTED_IN_2022 = "2022-06-01T16:23:12Z INF Connection c206cf44-945f-4c3c-a85c-af60c6338dc2 registered connIndex=0 location=ORD\n"
DISCONNECTED = """\
2022-08-21T00:22:26Z WRN Connection terminated error="timeout: no recent network activity" connIndex=0
2022-08-21T00:22:26Z INF Unregistered tunnel connection connIndex=0
2022-08-21T00:22:26Z INF Retrying connection in up to 1s seconds connIndex=0 ip=198.41.200.13
"""
# What a stranger asked for stands in a line of an aborted request as he wrote it, query and all
# (cloudflared issue 574 of the Home Assistant app shows such lines).
ABORTED = '2024-01-18T06:12:24Z ERR Request failed error="stream 13 canceled by remote with error code 0" connIndex=0 dest=https://{host}/?{query} event=0 ip=198.41.192.77 type=http\n'
DROPPED = '2026-07-31T08:01:02Z ERR Register tunnel error from server side error="Unauthorized: Tunnel not found" connIndex=0\n'
UNREACHABLE = 'failed to request quick Tunnel: Post "https://api.trycloudflare.com/tunnel": dial tcp: lookup api.trycloudflare.com on 127.0.0.11:53: no such host\n'


def cloudflared_log(name: str) -> str:
    """What cloudflared writes until it has an address, but no connection yet."""
    return _CLOUDFLARED.format(name=name)


def ngrok_log(name: str) -> str:
    """What ngrok writes until it has an address."""
    started = {"obj": "tunnels", "name": "command_line", "addr": "http://127.0.0.1:4000"}
    return (
        ngrok_line("info", "no configuration paths supplied")
        + ngrok_line("info", "starting web service", obj="web", addr="127.0.0.1:4040")
        + ngrok_line("info", "client session established", obj="csess", id="1c907e548f56")
        + ngrok_line("info", "started tunnel", **started, url=f"https://{name}.ngrok-free.app")
    )


def ngrok_line(level: str, message: str, **more: str) -> str:
    fields = {"lvl": level, "msg": message, "t": "2026-09-30T02:40:01Z", **more}
    return json.dumps(fields, separators=(",", ":")) + "\n"


def stand_in(folder: Path, program: str, script: str, **logs: str) -> str:
    """Writes a shell script that passes for a program and gives its path.

    Each log is a file that the script finds as `$NAME`.
    """
    folder.mkdir(exist_ok=True)
    lines = ["#!/bin/sh"]
    for name, text in logs.items():
        file = folder / f"{program}.{name}"
        file.write_text(text)
        lines.append(f"{name}={file}")
    path = folder / program
    path.write_text("\n".join([*lines, script, ""]))
    path.chmod(0o755)
    return str(path)


def on_path(folder: Path) -> str:
    """A PATH on which the stand-ins come first."""
    return f"{folder}{os.pathsep}{os.environ['PATH']}"
