"""The API client: calls as values, one synchronous sender, and what its answers mean."""
