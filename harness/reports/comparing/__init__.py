"""Comparison of runs: differences, their statistical evidence, and their presentation."""
