"""The calls of each resource as values; none of them sends anything.

`find` knows them by their path or by an id, for what a user gives as text and what the journal has
kept. A new call of the service belongs here; a new POST also into `operations` and `fields`.
"""
