"""API keys and signing secrets: where they are kept, which one a command uses, how old they are.

`resolve` is where to begin: it finds the key of a command. `store` reads and
writes the OS keyring (`keyrings/backend.py` is the interface of one, its neighbours are the
implementations), `facts` knows what is stored without reading a secret.
What a key is, and what must not be sent where, is in `svc.api_keys`.

Promises, such as "promise R1", stand by their numbers in tests/PROMISES.md.
"""
