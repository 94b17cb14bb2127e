"""A release of a handful of cases, written here.

Whatever is not about the real data is tested with it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from harness.leaderboards.bfcl.data import TREE_SHA256, data_folder


def function(name: str, required: Sequence[str] = (), **properties: Any) -> dict[str, Any]:
    parameters = {"type": "dict", "properties": properties, "required": list(required)}
    return {"name": name, "description": f"Does what {name} says.", "parameters": parameters}


WEATHER = function(
    "weather.get",
    ["city"],
    city={"type": "string", "description": "Where."},
    days={"type": "integer"},
)
ADD = function("add", ["a"], a={"type": "float"}, tags={"type": "array", "items": {"type": "any"}})
LIST_FILES = function("ls", a={"type": "boolean"})
NEW_FILE = function("touch", ["file_name"], file_name={"type": "string"})

QUESTIONS: Mapping[str, list[dict[str, Any]]] = {
    "simple_python": [
        {
            "id": "simple_python_0",
            "question": [[{"role": "user", "content": "Weather in Oslo?"}]],
            "function": [WEATHER],
        },
        {
            "id": "simple_python_1",
            "question": [[{"role": "user", "content": "Weather in Rome?"}]],
            "function": [WEATHER],
        },
    ],
    "parallel_multiple": [
        {
            "id": "parallel_multiple_0",
            "question": [
                [
                    {"role": "system", "content": "Be brief."},
                    {"role": "user", "content": "Weather in Bonn, and 1 plus."},
                ]
            ],
            "function": [WEATHER, ADD],
        }
    ],
    "irrelevance": [
        {
            "id": "irrelevance_0",
            "question": [[{"role": "user", "content": "Sing a song."}]],
            "function": [ADD],
        }
    ],
    "multi_turn_miss_func": [
        {
            "id": "multi_turn_miss_func_0",
            "question": [[{"role": "user", "content": "Make b.txt, then list everything."}], []],
            "initial_config": {
                "GorillaFileSystem": {
                    "root": {
                        "home": {
                            "type": "directory",
                            "contents": {"a.txt": {"type": "file", "content": "x"}},
                        }
                    }
                }
            },
            "involved_classes": ["GorillaFileSystem"],
            "missed_function": {"1": ["touch"]},
        }
    ],
    "memory": [
        {
            "id": "memory_0-customer-0",
            "question": [[{"role": "user", "content": "Who am I?"}]],
            "involved_classes": ["MemoryAPI"],
            "scenario": "customer",
        },
        {
            "id": "memory_1-customer-1",
            "question": [[{"role": "user", "content": "Where do I live?"}]],
            "involved_classes": ["MemoryAPI"],
            "scenario": "customer",
        },
    ],
}

TOLD = [
    {
        "id": "memory_prereq_0-customer-0",
        "question": [
            [{"role": "user", "content": "Hello, I am Michael."}],
            [{"role": "user", "content": "I like espresso."}],
        ],
        "scenario": "customer",
    },
    {
        "id": "memory_prereq_1-customer-1",
        "question": [[{"role": "user", "content": "I moved to Seattle."}]],
        "scenario": "customer",
    },
]
"""What went before the memory cases."""

PROMPTS = """\
ADDITIONAL_SYSTEM_PROMPT_FOR_AGENTIC_RESPONSE_FORMAT = "Answer in the form {'answer': …}.\\n"
MEMORY_AGENT_SETTINGS = {"customer": "You support customers."}
MEMORY_BACKEND_INSTRUCTION_CORE_ARCHIVAL = "{scenario_setting} Core memory: {memory_content}"
MEMORY_BACKEND_INSTRUCTION_UNIFIED = "{scenario_setting} Memory: {memory_content}"
"""
"""What is said of the memory."""

ANSWERS: Mapping[str, list[dict[str, Any]]] = {
    "simple_python": [
        {
            "id": "simple_python_0",
            "ground_truth": [{"weather.get": {"city": ["Oslo"], "days": [1, ""]}}],
        },
        {
            "id": "simple_python_1",
            "ground_truth": [{"weather.get": {"city": ["Rome"], "days": [1, ""]}}],
        },
    ],
    "parallel_multiple": [
        {
            "id": "parallel_multiple_0",
            "ground_truth": [
                {"weather.get": {"city": ["Bonn"], "days": [""]}},
                {"add": {"a": [1.0]}},
            ],
        }
    ],
    "multi_turn_miss_func": [
        {"id": "multi_turn_miss_func_0", "ground_truth": [[], ["touch(file_name='b.txt')", "ls()"]]}
    ],
    "memory": [
        {"id": "memory_0-customer-0", "ground_truth": ["Michael"]},
        {"id": "memory_1-customer-1", "ground_truth": ["Seattle"]},
    ],
}

CATEGORIES = [
    "simple_python",
    "parallel_multiple",
    "irrelevance",
    "multi_turn_miss_func",
    "memory_kv",
]


def write_release(root: Path, categories: Sequence[str] = CATEGORIES) -> Path:
    """Write the release into the cache folder ``root`` and return its own."""
    folder = data_folder(root)
    for name, lines in QUESTIONS.items():
        write_lines(folder / "data" / f"BFCL_v4_{name}.json", lines)
    for name, lines in ANSWERS.items():
        write_lines(folder / "data" / "possible_answer" / f"BFCL_v4_{name}.json", lines)
    write_lines(
        folder / "data" / "multi_turn_func_doc" / "gorilla_file_system.json", [LIST_FILES, NEW_FILE]
    )
    write_lines(folder / "data" / "memory_prereq_conversation" / "memory_customer.json", TOLD)
    (folder / "constants").mkdir(exist_ok=True)
    (folder / "constants" / "default_prompts.py").write_text(PROMPTS)
    noted = {"tree": TREE_SHA256, "categories": list(categories), "limit": None}
    (folder / "fetched.json").write_text(json.dumps(noted))
    return folder


def write_lines(path: Path, lines: Sequence[Mapping[str, Any]]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path
