"""``interference:`` of a suite: withheld values, and how each is altered."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

from harness.base import (
    TEXT,
    DocumentReader,
    InvalidValue,
    Layout,
    Steps,
    any_of,
    arguments_field,
    array_of,
    build_field,
    describe_value,
    line_field,
    lines_field,
    parse_items,
    parse_list,
    parse_mapping,
    parse_mapping_or_line,
    refer_to,
    text_field,
    texts_by_name_field,
)
from harness.types import Alteration, DataSet, DependentTool, JsonObject, ScriptedCall

CallsReader = Callable[[Steps, Any, str], tuple[ScriptedCall, ...]]
"""``(path, list of calls, noun for messages) → calls``."""

_HOW = "Say how its data differs: 'env', 'args' or 'setup'."
_NAME = {"type": "string", "pattern": r"\S"}


def _parse_alteration(value: Any) -> dict[str, Any]:
    if not isinstance(value, dict):
        message = f"expected a mapping, found {describe_value(value)}"
        raise InvalidValue(message, meant="Begin each with '- alters: FIELD'.")
    return value


MAY_DEPEND_LAYOUT = Layout(
    fields={
        "tool": line_field("Name of the tool.", required=True),
        "fields": lines_field("The fields of its results; without them, its whole answer."),
    },
    elsewhere={"field": "Did you mean 'fields'?"},
)
"""An item of ``may_depend:``, written out."""
DATA_SET_LAYOUT = Layout(
    fields={
        "env": texts_by_name_field(
            "Environment variables that the server is started with in addition; ${NAME} is one of "
            "yours."
        ),
        "args": arguments_field("Arguments that the server is started with in addition."),
        "setup": build_field(
            "Tool calls that alter the data, made before anybody asks.",
            array_of(any_of(TEXT, refer_to("call"))),
            parse_list,
        ),
    },
    elsewhere={
        "url": "A server at another URL is another server; write 'setup' to alter its data.",
        "as": "Write 'setup_as', beside 'b'.",
    },
)
"""``a:`` and ``b:`` of an alteration."""
_DATA = {"$ref": "#/$defs/data_set"}
ALTERATION_LAYOUT = Layout(
    fields={
        "alters": line_field(
            "The field that has the value in the results of those who may see it.", required=True
        ),
        "description": text_field("What is altered, in a few words, for messages."),
        "a": build_field(
            "The data as it is; without it, that of the server.", _DATA, parse_mapping
        ),
        "b": build_field("The same data with another value.", _DATA, parse_mapping, required=True),
        "setup_as": build_field(
            "Who makes the calls under 'setup': the name of an identity, or its "
            "user_context. Without it, an anonymous caller.",
            any_of(TEXT, {"type": "object"}),
            parse_mapping_or_line,
        ),
        "withheld_from": lines_field(
            "Identities that must not see the value even if they get the field itself. All others "
            "that do not get the field must not see it either."
        ),
        "may_depend": build_field(
            "Tools, or fields of their results, that may depend on the value.",
            array_of(any_of(TEXT, refer_to("may_depend"))),
            parse_list,
        ),
    },
    elsewhere={
        "field": "Did you mean 'alters'?",
        "env": "Put it under 'b:'.",
        "args": "Put it under 'b:'.",
        "setup": "Put it under 'b:'.",
        "as": "Did you mean 'setup_as'?",
    },
)
"""An item of ``interference:``."""
INTERFERENCE = build_field(
    "Withheld values that harness probe alters; identities that must not see them must "
    "get equal answers.",
    array_of(refer_to("alteration")),
    partial(parse_items, _parse_alteration),
)
"""``interference:`` of a suite."""


def read_alterations(
    reading: DocumentReader, path: Steps, given: Sequence[JsonObject], calls: CallsReader
) -> Iterator[Alteration]:
    """Yield the alterations that ``given`` at ``path`` describes; ``reading`` collects problems."""
    for index, part in enumerate(given):
        at = (*path, index)
        noun = f"number {index + 1} of 'interference'"
        values = reading.read_mapping(at, part, ALTERATION_LAYOUT, noun)
        a, b = (
            _parse_data_set(reading, (*at, key), values.get(key, {}), f"{key!r} of {noun}", calls)
            for key in "ab"
        )
        # By the keys as written: a key that is invalid has been reported, and is not missing.
        if isinstance(part.get("b"), dict) and not (part["b"].keys() & DATA_SET_LAYOUT.fields):
            reading.add_problem((*at, "b"), f"'b' of {noun} is empty.", _HOW)
        # Equal data would always get equal answers, and so never show a leak.
        elif a == b:
            reading.add_problem((*at, "b"), f"{noun} alters nothing.", _HOW)
        yield Alteration(
            field=values.get("alters", ""),
            description=values.get("description"),
            a=a,
            b=b,
            setup_as=values.get("setup_as"),
            withheld_from=values.get("withheld_from", ()),
            may_depend=tuple(
                DependentTool(
                    # One without a name has been reported; an empty one lets the reading go on.
                    **{"tool": ""}
                    | reading.read_mapping(
                        (*at, "may_depend", place),
                        tool if isinstance(tool, dict) else {"tool": tool},
                        MAY_DEPEND_LAYOUT,
                        "'may_depend'",
                    )
                )
                for place, tool in enumerate(values.get("may_depend", ()))
            ),
            at=reading.document.locate(at),
        )


def _parse_data_set(
    reading: DocumentReader, path: Steps, given: JsonObject, noun: str, calls: CallsReader
) -> DataSet:
    values = reading.read_mapping(path, given, DATA_SET_LAYOUT, noun)
    return DataSet(
        env=values.get("env", {}),
        args=values.get("args", ()),
        setup=calls((*path, "setup"), values.get("setup", ()), noun),
    )
