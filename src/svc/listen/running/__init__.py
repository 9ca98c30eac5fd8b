"""Runs a command for each event (`svc events listen --run`); begin at `lane.CommandLane`.

To the forwarding half a command is a target like any other: `lane` gives what sends to either kind,
and `process` has the one process of a run.
"""
