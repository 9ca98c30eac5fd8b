"""The nouns of the service: parameters, states and actions of each, one file a noun."""
