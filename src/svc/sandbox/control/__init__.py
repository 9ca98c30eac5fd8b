"""The controls, endpoints below `/_sandbox/`: time, webhooks, faults, banks, the dashboard.

They are what a sandbox has beside the API. Begin with `app`, which answers the requests of
`svc sandbox ...`. `call` says how a control is declared; `routes/` has them by subject.
`scenarios` makes any event happen, `fixtures` fills a sandbox. `sandbox.app` passes `app` its
requests, and `cli` has its words and completions from the tables here.
"""
