"""The analyses of the studies, from plain data to findings."""
