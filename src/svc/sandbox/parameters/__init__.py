"""What a request may say: decoded, read against a table, checked value by value, or refused."""
