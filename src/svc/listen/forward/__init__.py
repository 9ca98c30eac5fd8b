"""Sending what is open to its targets; begin at `dispatcher.Dispatcher`.

A `pump` for each target takes its events from the ledger of the inbox, each as an `item`; `request`
builds what is sent over a kept `connection`, `signing` sees to signatures that are too old, `retry`
says when it is tried again and `health` whether the target is. `replay` sends a kept delivery once
more. The listener, the inspector and the verbs of `svc events` use it.
"""
