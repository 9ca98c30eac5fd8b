"""The command tree as values, and the shell scripts that complete it without starting Python."""
