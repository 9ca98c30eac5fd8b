"""Webhook deliveries of the sandbox: what is sent, when, and what follows from the answer.

`jobs.runner` has the attempts that are due made by `attempts`, which builds and judges each and
sends it by `sender` over a `connection`.
"""
