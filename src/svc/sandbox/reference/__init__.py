"""Tables and arithmetic that no state changes: duties, rates, cards, banks, payment methods.

Begin with `cards`. The modules here import nothing else of the sandbox, and all of the sandbox may
import them.
"""
