"""The calls of each resource as values; none of them sends anything.

A file is a noun; begin with `orders`. `find` knows calls by their path or by an id, for what a user
gives as text and what the journal has kept. A new call of the service belongs here; a new POST also
into `operations` and `fields`. Commands, `batch` and the journal use them.
"""
