"""The command tree as values, and the shell scripts that complete it without starting Python.

`tree.py` is where to begin: what a command line can hold. `tables.py` makes flat tables of it, and
`shells.py` puts them into the engine of each shell; `packaged.py` reads the scripts that were made
of them. Only `svc.cli` imports this room, and fills the tree from its parsers.
"""
