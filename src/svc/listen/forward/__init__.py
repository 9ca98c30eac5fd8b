"""Sending what is open to its targets; begin at `dispatcher.Dispatcher`."""
