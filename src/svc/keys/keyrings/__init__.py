"""The keyrings themselves; `choice` says which of them may be used, `store` alone asks them."""
