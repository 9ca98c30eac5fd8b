"""Sandbox processes: serving one, starting and stopping one in the background, finding them.

Begin with `serve`; `cli` finds and ends them by `launch` and `records`.
"""
