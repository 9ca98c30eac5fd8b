"""The calls of each resource as values; none of them sends anything."""
