"""One HTTP exchange, and who may have one."""
