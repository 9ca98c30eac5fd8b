"""Everything on disk: one SQLite file, and what one call sees and changes in it."""
