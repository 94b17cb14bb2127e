"""Writes ``harness/suites/suite.schema.json`` anew: ``python -m tests.suites.write_schema``."""

from harness.judging.checks import VOCABULARY
from harness.suites.schema import SCHEMA_FILE, schema_text

if __name__ == "__main__":
    SCHEMA_FILE.write_text(schema_text(VOCABULARY), encoding="utf-8")
