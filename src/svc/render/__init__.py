"""What is printed: results on stdout, everything else on stderr, safe for terminals and pipes.

`output.py` is where to begin: the one object that commands print through. It chooses a format,
`human`, `json_format.py` or `csv_format.py`; `views` says as data how an object is shown to people.
`svc.cli` imports this room; `svc.batch` and `svc.listen` only what spells a text or a value
(`csv_format.py`, `text.py`, `human/cells.py`). It knows no network, no settings, and no clock but
the one that it is given.

Promises, such as "promise R1", stand by their numbers in tests/PROMISES.md.
"""
