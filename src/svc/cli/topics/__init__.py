"""The pages of `svc help`, one module a topic."""
