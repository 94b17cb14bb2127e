"""Files become suites: what a file looks like is in `formats`, and one module a format reads it."""

from pathlib import Path

SCHEMA_FILE = Path(__file__).with_name("suite.schema.json")
"""JSON Schema of suites in YAML, for editors; `harness.suites.schema` makes it."""
