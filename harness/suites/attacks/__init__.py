"""Attacks in YAML, and the built-in pack: ``standard.yml``."""
