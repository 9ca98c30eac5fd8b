"""Whether a delivery is authentic, and why not; begin at `verify.Intake.verify`."""
