"""What is to be run, with which models, and what it may cost."""
