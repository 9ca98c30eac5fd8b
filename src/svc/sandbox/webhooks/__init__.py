"""Deliveries on their way: what is sent, when, and what follows from the answer."""
