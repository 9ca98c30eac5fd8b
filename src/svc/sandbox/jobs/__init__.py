"""Jobs: what happens by itself when the sandbox's clock comes to it, such as a settlement.

`runner` runs the jobs that `store.jobs` keeps, and `handlers` says what each does.
"""
