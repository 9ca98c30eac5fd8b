"""What was received and what became of it; `inbox` is the contract, `sqlite` keeps it."""
