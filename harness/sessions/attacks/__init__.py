"""Attacks: texts of a bad actor, put where the model reads them."""
