"""Running a list of requests from a file, so that each row happens exactly once."""
