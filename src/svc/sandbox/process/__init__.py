"""Sandbox processes: serving one, starting and stopping one in the background, finding them.

Begin with `serve`. `cli` and the pytest plugin start and end a sandbox by `launch`, and find those
that run by `records`; `certificate` makes what `--tls` needs.
"""
