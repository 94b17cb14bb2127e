"""Attacks in a trial: what the model sees, and what the identity that planted them can do."""
