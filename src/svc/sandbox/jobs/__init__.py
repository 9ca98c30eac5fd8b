"""What happens by itself, when the sandbox's clock comes to it."""
