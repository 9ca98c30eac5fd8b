"""The whole service on this machine: rules, state, HTTP surface and process."""
