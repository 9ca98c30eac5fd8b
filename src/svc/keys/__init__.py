"""API keys and signing secrets: where they are kept, which one a command uses, how old they are.

`resolve` is where to begin: it finds the key of a command. `store` asks the OS keyring (what one is
says `keyrings/backend.py`, and beside it are those there are), `facts` knows what is stored without
reading any of it.
What a key is, and what must not be sent where, is in `svc.api_keys`.
"""
