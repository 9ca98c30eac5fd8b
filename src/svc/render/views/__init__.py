"""How the objects of the service, of the sandbox and of this machine are shown."""
