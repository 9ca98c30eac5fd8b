"""Webhook deliveries of the sandbox: what is sent, when, and what follows from the answer.

The `engine` makes a `dispatcher`, which takes due attempts, has `attempts` build and judge each,
and sends by `sender` over a `connection`.
"""
