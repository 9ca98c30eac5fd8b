"""Sending what is open to its targets; begin at `dispatcher.Dispatcher`.

It takes `items` from the inbox into a `target_queue` for each target; `request` sends one over a
kept `connection`, `retry` says when it is tried again. `replay` sends a kept delivery once more.
The listener, the inspector and the verbs of `svc events` use it.
"""
