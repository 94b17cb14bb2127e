"""Checks before any tokens are spent: tools that a plan names, and credentials of its callers."""
