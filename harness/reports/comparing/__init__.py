"""Runs side by side: what differs, whether it means anything, and how that is shown."""
