"""Examines a webhook handler by deliveries that it must accept or refuse (`svc events examine`).

Begin at `rules.RULES`. `events` makes events up, in unusual forms and with bad signatures,
`effects` tells from the output of a command what the handler has done, `check` runs that command,
and `examiner` makes the deliveries of one rule after the other and judges the answers.
"""
