"""Readers of suites: `formats` recognises a file's format, and one module reads each format."""

from pathlib import Path

SCHEMA_FILE = Path(__file__).with_name("suite.schema.json")
"""JSON Schema of suites in YAML, for editors; made by `harness.suites.schema`."""
