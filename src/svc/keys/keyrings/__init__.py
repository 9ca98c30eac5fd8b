"""The keyrings themselves, and which of them may be used."""
