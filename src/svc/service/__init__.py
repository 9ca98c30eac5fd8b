"""The API described once, as data: what every other room reads, and none copies.

Begin with `facts`: limits, schedules, headers, prefixes of keys and ids, and the types of events.
"""
