"""One way from a plan and data to a release."""
