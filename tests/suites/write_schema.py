"""Writes the JSON Schemas of `harness/suites` anew: ``python -m tests.suites.write_schema``."""

from harness.judging.checks import VOCABULARY
from harness.suites.schema import (
    ATTACK_SCHEMA_FILE,
    SCHEMA_FILE,
    format_attack_schema,
    format_schema,
)

if __name__ == "__main__":
    SCHEMA_FILE.write_text(format_schema(VOCABULARY), encoding="utf-8")
    ATTACK_SCHEMA_FILE.write_text(format_attack_schema(), encoding="utf-8")
