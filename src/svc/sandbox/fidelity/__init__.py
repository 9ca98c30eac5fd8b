"""What the specification says and what we chose, row by row, each with the test that proves it."""
