"""Which stages share a loop nest."""
