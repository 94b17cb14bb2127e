"""Every rule of ``harness lint``, from its family, and how well its harm is known."""

from __future__ import annotations

from collections.abc import Iterator

from docs.site.reference.markdown import as_code, fenced, from_docstring, plain, table
from harness.descriptions.linting.findings import (
    FAMILIES,
    LintEvidence,
    Measurement,
    load_rules,
)

HEAD = """# Lint rules

{example}
Every rule of `harness lint`, from the rules themselves: its severity, why it matters, and what to
write instead. [harness lint](../lint.md) explains the kinds of evidence.

"""
KINDS = ("measured", "reported", "opinion")


def lint_rules_page() -> str:
    """Return the page."""
    example = fenced("sh", "harness lint data_governance")
    families = "\n".join(map(_family, FAMILIES.list_names()))
    evidence = table(("rules", "evidence", "effect", "source"), _evidence())
    return f"{HEAD.format(example=example)}{families}\n## Evidence\n\n{evidence}"


def _family(name: str) -> str:
    rules = FAMILIES.get(name).rules
    rows = (
        (
            as_code(rule),
            said.severity,
            said.evidence.kind,
            from_docstring(said.why),
            plain(said.instead),
        )
        for rule, said in rules.items()
    )
    title = name.replace("_", " ").capitalize()
    return f"## {title}\n\n" + table(("rule", "severity", "evidence", "why", "instead"), rows)


def _evidence() -> Iterator[tuple[str, ...]]:
    groups: dict[LintEvidence, list[str]] = {}
    for name, rule in sorted(load_rules().items()):
        groups.setdefault(rule.evidence, []).append(as_code(name))
    for one in sorted(groups, key=lambda each: KINDS.index(each.kind)):
        figures = "; ".join(map(_figure, one.measurements))
        effect = plain(": ".join(filter(None, (one.effect, figures)))) or "–"
        yield ", ".join(groups[one]), one.kind, effect, plain(one.source or "–")


def _figure(one: Measurement) -> str:
    interval = f" [{one.interval[0]:+.1f}, {one.interval[1]:+.1f}]" if one.interval else ""
    return f"{one.points:+.1f} points{interval} ({one.of})"
