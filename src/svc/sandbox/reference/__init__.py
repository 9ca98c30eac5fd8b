"""Tables and arithmetic that no state changes: duties, rates, cards, banks, payment methods."""
