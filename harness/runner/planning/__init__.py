"""What to run, with which models, and what it may cost."""
