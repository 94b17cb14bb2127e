"""A server's surface in a file for version control, and what a change of it breaks."""
