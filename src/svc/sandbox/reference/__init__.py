"""Tables and arithmetic that no state changes: duties, rates, cards, banks, payment methods.

Begin with `cards`; they import nothing of the sandbox and everything there may import them.
"""
