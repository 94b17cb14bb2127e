"""Every key of a suite and of the configuration, from the tables by which they are read."""

from __future__ import annotations

from docs.site.reference.markdown import as_code, fenced, from_docstring, plain, table
from docs.site.reference.values import as_yaml, kind_of_value
from harness.base.documents.fields import Layout
from harness.judging.checks import VOCABULARY
from harness.suites.config.agents import AGENT_LAYOUT
from harness.suites.config.files import CONFIGURATION, DEFAULTS, MODELS
from harness.suites.config.model_entries import MODEL
from harness.suites.config.server_entries import identity_layout
from harness.suites.config.servers import NAMED_SERVER
from harness.suites.faults import FAULT_LAYOUT, PART_LAYOUT
from harness.suites.format_tables import build_layouts
from harness.suites.interference import ALTERATION_LAYOUT, DATA_SET_LAYOUT, MAY_DEPEND_LAYOUT
from harness.suites.simulated_users import ELICIT_LAYOUT, USER_LAYOUT
from harness.suites.variants import (
    DECOYS_LAYOUT,
    PARAMETER_LAYOUT,
    TOOL_LAYOUT,
    TOOL_SEARCH_LAYOUT,
    VARIANT_LAYOUT,
)
from harness.types import JsonObject

_SUITE = """# Keys of a suite

{example}
Every key of a suite in YAML, from the tables by which harness reads it; `harness evals --list`
reads suites and runs nothing. [Suites](../suites.md) explains how to write one.

"""
_CONFIGURATION = """# Keys of the configuration

{example}
Every key of `harness.yml`, from the tables by which harness reads it; `harness models` says where
each setting of a model comes from. [Configuring models and servers](../models.md) explains
when you need one.

"""


def suite_page() -> str:
    """Return the page on suites."""
    read = build_layouts(VOCABULARY)
    parts: dict[str, tuple[str, Layout]] = {
        "The suite": ("The top of the file.", read.suite),
        "defaults": ("Below ``defaults:``, for all tests.", read.defaults),
        "tests": ("Each item of ``tests:``.", read.test),
        "turns": ("Each item of ``turns:`` of a test.", read.turn),
        "expect": ("Below the name of an identity in ``expect:`` of a test.", read.expectation),
        "elicit_rule": ("Each rule of ``elicit:``.", ELICIT_LAYOUT),
        "user": ("Below ``user:`` of a test: a simulated user.", USER_LAYOUT),
        "setup and teardown": ("Each item of ``setup:`` and ``teardown:``.", read.call),
        "variants": ("Below the name of a variant.", VARIANT_LAYOUT),
        "tools of a variant": ("Below the name of a tool.", TOOL_LAYOUT),
        "parameters of a tool": ("Below the name of a parameter.", PARAMETER_LAYOUT),
        "decoys": ("Below ``add:`` of a variant, or each item there.", DECOYS_LAYOUT),
        "tool search": (
            "Below ``tool_search:`` of a variant: a search in place of a long list.",
            TOOL_SEARCH_LAYOUT,
        ),
        "faults": ("Each item of ``faults:``.", FAULT_LAYOUT),
        "faults of one trial": ("Each item of ``together:`` of a fault.", PART_LAYOUT),
        "interference": ("Each item of ``interference:``.", ALTERATION_LAYOUT),
        "data sets of an alteration": (
            "Below ``a:`` and ``b:`` of an item of ``interference:``.",
            DATA_SET_LAYOUT,
        ),
        "may_depend": ("Each item of ``may_depend:``.", MAY_DEPEND_LAYOUT),
    }
    example = fenced("sh", "harness evals data_governance --list")
    return _SUITE.format(example=example) + _sections(parts)


def configuration_page() -> str:
    """Return the page on ``harness.yml``."""
    parts: dict[str, tuple[str, Layout]] = {
        "The file": ("The top of ``harness.yml``.", CONFIGURATION),
        "models": ("Below ``models:``.", MODELS),
        "a model": ("Below the name of a model in ``models: models:``.", MODEL),
        "a server": ("Below the name of a server in ``servers:``.", NAMED_SERVER),
        "identity": ("Below ``identity:`` of a server.", identity_layout()),
        "an agent": ("Below the name of an agent in ``agents:``.", AGENT_LAYOUT),
        "defaults": ("Below ``defaults:``.", DEFAULTS),
    }
    return _CONFIGURATION.format(example=fenced("sh", "harness models")) + _sections(parts)


def _sections(parts: dict[str, tuple[str, Layout]]) -> str:
    return "\n".join(
        f"## {title}\n\n{from_docstring(said)}\n\n{_keys(layout)}"
        for title, (said, layout) in parts.items()
    )


def _keys(layout: Layout) -> str:
    return table(
        ("key", "value", "meaning"),
        (
            (
                as_code(key) + " (required)" * field.required,
                _cell(kind_of_value(field.schema)),
                plain(str(field.schema.get("description", "")))
                + (
                    f" Default: {as_yaml(field.schema['default'])}."
                    if "default" in field.schema
                    else ""
                ),
            )
            for key, field in layout.fields.items()
        ),
    )


def _default(schema: JsonObject) -> str:
    return f" Default: {as_yaml(schema['default'])}." if "default" in schema else ""


def _cell(text: str) -> str:
    return text.replace("|", r"\|")
