"""Reads YAML, CSV and JSON files as safe data with the line of every value."""
