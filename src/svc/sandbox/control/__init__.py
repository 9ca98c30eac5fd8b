"""The controls below `/_sandbox/`: time, webhooks, faults and everything that happens outside.

Begin with `app`, the routes. `call` says how a control is declared; `engine`, `faults` and
`resources` have them by subject. `scenarios` makes any event happen, `fixtures` fills a sandbox.
`sandbox.app` serves them, and `cli` has its words and completions from their tables.
"""
