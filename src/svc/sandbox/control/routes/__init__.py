"""The controls by subject, each a function of a `ControlCall`: what `/_sandbox/` offers.

`engine` has the controls of time, settings and the sandbox as a whole, `resources` those of banks,
disputes, customs, keys and webhooks, `faults` those of fault rules, `lint` the check of an
integration. `svc.sandbox.control.app` adds them all to its table of routes.
"""
