"""What decisions cost on this machine: predicted against measured seconds, and the plans not taken."""
