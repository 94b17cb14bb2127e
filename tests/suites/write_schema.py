"""Writes ``harness/suites/suite.schema.json`` anew: ``python -m tests.suites.write_schema``."""

from harness.judging.checks import VOCABULARY
from harness.suites.schema import SCHEMA_FILE, format_schema

if __name__ == "__main__":
    SCHEMA_FILE.write_text(format_schema(VOCABULARY), encoding="utf-8")
