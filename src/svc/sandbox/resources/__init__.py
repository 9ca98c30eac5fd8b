"""The nouns of the service: parameters, states and actions of each, one file a noun.

Begin with `refunds`; `operation` is how each declares what it answers to. A noun imports those that
it changes. The surfaces (`api`, `control`, `checkout`) and `jobs` call them; they know no HTTP.
"""
