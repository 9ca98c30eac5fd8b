"""The checkout page, where a shopper sees an order and pays it (spec: What the service does)."""
