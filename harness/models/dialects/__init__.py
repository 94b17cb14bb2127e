"""What each provider takes of the schema of a tool, as data, and how the rest is said."""
