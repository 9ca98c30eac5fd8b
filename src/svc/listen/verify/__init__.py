"""Checks whether a delivery is authentic, and explains why not; begin at `verify.Intake.verify`."""
