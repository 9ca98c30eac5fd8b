"""The controls below `/_sandbox/`: time, webhooks, faults and everything that happens outside.

Begin with `app`, which answers the requests of `svc sandbox ...`. `call` says how a control is
declared; `routes/` has them by subject. `scenarios` makes any event happen, `fixtures` fills a
sandbox. `sandbox.app` serves them, and `cli` has its words and completions from their tables.
"""
