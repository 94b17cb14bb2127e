"""The functions of the cases: as prompts, schemas and tools, with their dotted names."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from harness.base import HarnessError, NothingToRun
from harness.leaderboards.bfcl.catalog import CATEGORIES, Language
from harness.leaderboards.bfcl.data import (
    BfclEntry,
    fetch_command,
    load_entries,
    read_fetched_facts,
)
from harness.leaderboards.bfcl.decoding.forms import OutputForm
from harness.leaderboards.bfcl.decoding.parsing import MisshapenOutput, NotCalls
from harness.types import JsonObject, Tool

MORE_FUNCTIONS = "I have updated some more functions you can choose from. What about now?"
"""The user's message where the data has none and a missing function is added."""


def build_prompts(entry: BfclEntry) -> tuple[str, ...]:
    """Return the texts of the user's turns."""
    return tuple(_join_messages(messages) for messages in entry.question["question"])


def build_system_prompt(entry: BfclEntry) -> str | None:
    """Return the system prompt of the case."""
    first: Sequence[dict[str, Any]] = entry.question["question"][0]
    said = [message["content"] for message in first if message["role"] == "system"]
    return "\n\n".join(said) or None


def _join_messages(messages: Sequence[dict[str, Any]]) -> str:
    """Return one turn as one message.

    A few cases have an earlier conversation; the message quotes it as a record.
    """
    spoken = [message for message in messages if message["role"] != "system"]
    if not spoken:
        return MORE_FUNCTIONS
    if all(message["role"] == "user" for message in spoken):
        return "\n\n".join(message["content"] for message in spoken)
    *earlier, last = spoken
    record = "\n\n".join(f"[{message['role']}] {message['content']}" for message in earlier)
    return f"Our conversation so far:\n\n{record}\n\n[user] {last['content']}"


_JSON_TYPES = {
    "dict": "object",
    "float": "number",
    "tuple": "array",
    **{name: name for name in ("integer", "string", "boolean", "array")},
}
_SYNTAX = {"python": "Python 3", "java": "Java 8 SDK", "javascript": "JavaScript"}
_NAMES = {"java": "Java", "javascript": "JavaScript"}
_LISTS = ("Array", "ArrayList", "array")


def build_tool(function: Mapping[str, Any], language: Language) -> Tool:
    """Return a function as a tool."""
    return Tool(
        name=function["name"],
        description=build_description(function, language),
        input_schema=build_parameters(function, language),
    )


def build_description(function: Mapping[str, Any], language: Language) -> str:
    """Return the description of a function for the model."""
    syntax = f"Note that the provided function is in {_SYNTAX[language]} syntax."
    return f"{function['description']} {syntax}"


def build_parameters(function: Mapping[str, Any], language: Language) -> JsonObject:
    """Return the JSON Schema of a function's arguments, which are always an object."""
    described = function["parameters"]
    schema = json_schema({**described, "type": "dict"})
    if language != "python":
        schema["properties"] = {
            name: _build_text_schema(one, _NAMES[language])
            for name, one in described.get("properties", {}).items()
        }
    return schema


def json_schema(described: Mapping[str, Any]) -> dict[str, Any]:
    """Return the data's description of a value as JSON Schema: ``float`` is a number."""
    schema = {key: value for key, value in described.items() if key != "type"}
    kind = _JSON_TYPES.get(described.get("type", ""))
    # The type "any" has no counterpart: a schema without a type allows everything.
    if kind is not None:
        schema["type"] = kind
    if isinstance(properties := schema.get("properties"), dict):
        schema["properties"] = {name: json_schema(one) for name, one in properties.items()}
    for key in ("items", "additionalProperties"):
        if isinstance(schema.get(key), dict):
            schema[key] = json_schema(schema[key])
    if isinstance(schema.get("optional"), bool):
        del schema["optional"]  # no keyword of JSON Schema; `required` has the others
    return schema


def _build_text_schema(described: Mapping[str, Any], language: str) -> dict[str, Any]:
    """Return the schema of a value that is written as text in ``language``."""
    kind, words = described["type"], described.get("description", "")
    if kind == "any":
        any_type = f"any type of {language} object"
        words += f" This parameter can be of {any_type} in string representation."
    else:
        words += f" This is {language} {kind} type parameter in string representation."
    if kind in _LISTS and "items" in described:
        inner = described["items"].get("type")
        words += f" The list elements are of type {inner}; they are not in string representation."
    if kind == "dict" and "properties" in described:
        entries = json.dumps(described["properties"])
        words += (
            " The dictionary entries have the following schema; they are not in string "
            f"representation. {entries}"
        )
    dropped = ("type", "items", "properties", "required")
    kept = {key: value for key, value in described.items() if key not in dropped}
    return {**kept, "type": "string", "description": words}


_FROM = ("multiple", "live_multiple", "simple_python")
"""Categories whose cases offer plain functions; functions of earlier ones come first."""


@cache
def list_functions(folder: Path) -> tuple[Tool, ...]:
    """Return the functions of the single-reply cases in ``folder``, each name once.

    Raises:
        NothingToRun: none of them was fetched.
    """
    noted = read_fetched_facts(folder.parent.parent)
    there = [] if noted is None else [name for name in _FROM if name in noted["categories"]]
    if not there:
        raise NothingToRun(f"decoys from BFCL need its data. Fetch them: {fetch_command(_FROM[0])}")
    tools: dict[str, Tool] = {}
    for name in there:
        for entry in load_entries(name, folder):
            for function in entry.functions:
                tool = build_tool(function, CATEGORIES[name].language)
                tools.setdefault(tool.name, tool)
    return tuple(tools.values())


def map_undotted_names(entry: BfclEntry) -> dict[str, str]:
    """Return, for a case's functions: name with ``_`` for dots → name in the case.

    A name with dots where it should have none is not a function: it is marked so that it equals no
    name.
    """
    dotted = [function["name"] for function in entry.functions if "." in function["name"]]
    return {name.replace(".", "_"): name for name in dotted} | {
        name: f"{name} (with a dot)" for name in dotted
    }


def keeps_dots(
    form: OutputForm, rows: Mapping[str, JsonObject], entry_of: Callable[[str], BfclEntry]
) -> bool:
    """Whether names in the outputs of a recording keep their dots.

    The majority counts of the names that match, in either spelling, a dotted function of their
    case. Without such names, the default of the form counts.
    """
    if form.dotted is not None:
        return form.dotted
    with_dots = without = 0
    for case, row in rows.items():
        names = _list_called_names(form, case, row)
        if not names:
            continue
        try:
            functions = {function["name"] for function in entry_of(case).functions}
        except HarnessError:
            continue  # a case without fetched data is not judged either
        described = {name for name in functions if "." in name}
        # A changed name that is also another function's shows nothing.
        changed = {name.replace(".", "_") for name in described} - functions
        with_dots += sum(name in described for name in names)
        without += sum(name in changed for name in names)
    return form.dotted_by_default if with_dots == without else with_dots > without


def _list_called_names(form: OutputForm, case: str, row: JsonObject) -> list[str]:
    category = CATEGORIES[case.rpartition("_")[0]]
    if category.judging in ("multi_turn", "answer"):
        return []  # their functions have no dots
    try:
        return [name for name, _ in form.compared(row["result"], category.language)]
    except (NotCalls, MisshapenOutput):
        return []
