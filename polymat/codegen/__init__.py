"""From a schedule to C text."""
