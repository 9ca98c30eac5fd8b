"""Sandbox processes: serving one, starting and stopping one in the background, finding them."""
