"""API keys and signing secrets: what they are, where they are kept, which one a command uses."""
