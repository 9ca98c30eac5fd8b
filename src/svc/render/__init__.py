"""Prints results on stdout and messages on stderr, safely for terminals and pipes.

Begin with `output.py`, the object by which commands print. It chooses a format: `human`,
`json_format.py` or `csv_format.py`. `views` describes as data how an object is shown to people.
`svc.cli` imports this room; `svc.batch` and `svc.listen` import only the formatting of texts and
values (`csv_format.py`, `dump.py`, `text.py`, `human/cells.py`). It knows no network, no settings,
and only the clocks that are passed to it.

Promises, such as "promise R1", stand by their numbers in tests/PROMISES.md.
"""
