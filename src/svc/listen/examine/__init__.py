"""Examines a webhook handler by deliveries that it must accept or refuse (`svc events examine`).

Begin at `rules.RULES`. `events` makes events up, in unusual forms and with bad signatures,
`effects` runs the command that shows what the handler has done and compares its outputs, and
`examiner` makes the deliveries of one rule after the other and judges the answers.
"""
