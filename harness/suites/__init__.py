"""Readers of suites: `formats` recognises a file's format, and one module reads each format."""
