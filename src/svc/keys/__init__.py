"""API keys and signing secrets: where they are kept, which one a command uses, how old they are.

Begin with `resolve`, which finds the key of a command. `store` reads and writes the OS keyring;
`keyrings/backend.py` is the interface of a keyring, the modules beside it implement it. `facts` is
the table of stored keys, without secrets; `age` decides when a secret is due. `svc.api_keys` parses
keys and refuses to send one to the wrong address. `cli` uses this room; `listen` hands the ages of
signing secrets to `age`.

Promises, such as "promise R1", stand by their numbers in tests/PROMISES.md.
"""
