"""Every check, from what each says of itself."""

from __future__ import annotations

from docs.site.reference.markdown import as_code, fenced, table
from docs.site.reference.values import kind_of_value
from harness.judging.checks import VOCABULARY
from harness.judging.checks.kind import CheckDoc
from harness.judging.checks.registry import KINDS

HEAD = """# Checks

{example}
Every check that can stand under `assertions:`, with what it asks, how its failures begin, and an
example. This page is written from the code of the checks; [Checks](../checks.md) explains
them in context.

"""


def checks_page() -> str:
    """Return the page."""
    docs = {name: KINDS.get(name).doc for name in KINDS.built_in_names}
    sections: dict[str, list[str]] = {}
    for name, doc in docs.items():
        if doc is not None:
            sections.setdefault(doc.section, []).append(_check(name, doc))
    text = "\n".join(
        f"## {section}\n\n" + "\n".join(checks) for section, checks in sections.items()
    )
    return HEAD.format(example=fenced("sh", "harness evals data_governance -v")) + text


def _check(name: str, doc: CheckDoc) -> str:
    schema = VOCABULARY.schema(name)
    fails = [[as_code(begins)] for begins in doc.fails]
    return "\n".join(
        [
            f"### {name}\n",
            f"{_up(doc.asks)}\n",
            f"Its value: {kind_of_value(schema)}.\n",
            fenced("yaml", doc.example),
            table(("a failure begins with",), fails),
        ]
    )


def _up(text: str) -> str:
    """Return ``text`` with its links as they are one folder deeper, as a sentence."""
    text = text.replace("](", "](../").replace("](../#", "](../checks.md#")
    return text[0].upper() + text[1:] + "." * (not text.endswith("."))
