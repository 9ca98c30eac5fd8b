"""The controls below `/_sandbox/`: time, webhooks, faults and everything that happens outside."""
