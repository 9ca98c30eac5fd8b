"""The inspector: a web page on this machine that shows what a listener receives, and replays it.

Begin with `app`, its routes. `pages` draws in the frame of `page` what `history` and `feed` know,
and `replay` is its one deed. Only `svc events listen --inspect` makes one; nothing else in `listen`
imports it.
"""
