"""YAML files as people write them: safe data with the line of every value, read by tables of keys."""
