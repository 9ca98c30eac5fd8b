"""What was received and what became of it; begin with `inbox`, the contract.

`sqlite` keeps it in the state database, `quick` where a sync of the disk is a plain call.
`inbound` tells a new event from a duplicate, `ledger` lists what is still to be done for each event
and target, `runs` how a run begins with that; `history` looks back, `forgetting` takes away,
`listeners` are those who kept it. All of `listen` and the verbs of `svc events` use the contract;
`svc doctor` asks how far it is.
"""
