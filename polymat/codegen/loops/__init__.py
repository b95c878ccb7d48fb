"""Stages as loops: nests from their schedules, and the passes that make them fast."""
