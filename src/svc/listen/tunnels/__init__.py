"""Ways for the service to reach this machine: one provider a file behind one small protocol."""
