"""The inbox: every delivery that a listener received, and what became of it; in the state database.

Begin with `interfaces`, what a listener needs. `sqlite` implements that in the state database,
and tells a new event from a duplicate. `commit` writes to it in groups while a listener runs.
`ledger` lists what is still to be done for each event and target, and `runs` prepares that at the
start of a run. `history` reads for commands and for the inspector, `forgetting` deletes,
`listeners` has whose events they are.
"""
