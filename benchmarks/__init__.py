"""Programs that show what polymat does, and how fast."""
