"""Calls by a path or an id, and those of a sandbox's controls; none of them sends anything.

`find` serves what a user gives as text and what the journal has kept. The calls of the API's nouns
come of their descriptions, by `client.operations`.
"""
