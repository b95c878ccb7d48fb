"""Elementary functions as C text of our own, which loops around them are vectorised with."""
