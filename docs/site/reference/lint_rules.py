"""Every rule of ``harness lint``, from its family."""

from __future__ import annotations

from docs.site.reference.markdown import as_code, fenced, from_docstring, table
from harness.descriptions.linting.findings import FAMILIES

HEAD = """# Lint rules

{example}
Every rule of `harness lint`, with its severity and why it matters, from the rules themselves.
[harness lint](../lint.md) says how well the harm of each is known.

"""


def lint_rules_page() -> str:
    """Return the page."""
    example = fenced("sh", "harness lint data_governance")
    return HEAD.format(example=example) + "\n".join(map(_family, FAMILIES.list_names()))


def _family(name: str) -> str:
    rules = FAMILIES.get(name).rules
    rows = (
        (as_code(rule), said.severity, said.evidence.kind, from_docstring(said.why))
        for rule, said in rules.items()
    )
    title = name.replace("_", " ").capitalize()
    return f"## {title}\n\n" + table(("rule", "severity", "evidence", "why"), rows)
