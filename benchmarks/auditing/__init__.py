"""The audit of the suite: what is audited, what was found, and how it is shown."""
