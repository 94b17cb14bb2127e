"""What holds for every format of other tools: nothing breaks, vanishes, hangs or is guessed."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Iterator
from copy import deepcopy
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from harness.base.errors import InvalidInput, UsageError
from harness.judging.checks import VOCABULARY
from harness.suites.conversion import convert_suite
from harness.suites.formats import is_recognised, load_built_in
from harness.suites.readers import read_suite, translate_suite
from tests.suites.foreign.translated import read_text
from tests.suites.foreign.written import EVERYTHING

ODD: tuple[Any, ...] = (None, 5, -1.5, True, "", "x", [], [1], [None], {}, {"a": 1}, [{"a": []}])


def name_file(tool: str) -> str:
    """Return a name that a file of the tool may have."""
    names = {"mcp_builder": "s.xml", "mcp_evals": "s.yml", "promptfoo": "promptfooconfig.json"}
    return names.get(tool, "s.json")


def iterate_parts(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[tuple[Any, ...], Any]]:
    yield path, value
    if isinstance(value, dict | list):
        for key, part in value.items() if isinstance(value, dict) else enumerate(value):
            yield from iterate_parts(part, (*path, key))


def replace_part(value: Any, path: tuple[Any, ...], odd: Any) -> Any:
    whole = deepcopy(value)
    place = whole
    for step in path[:-1]:
        place = place[step]
    place[path[-1]] = odd
    return whole


@pytest.mark.slow
@pytest.mark.parametrize("lenient", [False, True])
@pytest.mark.parametrize("tool", EVERYTHING)
def test_an_odd_value_anywhere_is_read_or_refused(tool: str, lenient: bool, tmp_path: Path) -> None:
    value, name = EVERYTHING[tool], name_file(tool)
    read_text(tmp_path / name, json.dumps(value), lenient=lenient)
    for place, (path, _) in enumerate(iterate_parts(value)):
        # A quarter of them in each place: all would take minutes.
        for odd in ODD[place % 4 :: 4] if path else ():
            try:
                read_text(
                    tmp_path / name, json.dumps(replace_part(value, path, odd)), lenient=lenient
                )
            except (InvalidInput, UsageError) as error:
                assert name in str(error)  # noqa: PT017 - one of two outcomes


@pytest.mark.parametrize("tool", EVERYTHING)
@given(data=st.data())
def test_no_key_vanishes(tool: str, data: st.DataObject) -> None:
    value = EVERYTHING[tool]
    mappings = [
        path
        for path, part in iterate_parts(value)
        # A variable that no template names changes nothing, and is no instruction.
        if isinstance(part, dict) and "vars" not in path and path[:1] != ("parts",)
    ]
    path = data.draw(st.sampled_from(mappings))
    key = "zz" + data.draw(st.text("abcdefghij_", min_size=1, max_size=12))
    written = json.dumps(replace_part(value, (*path, key), 1))
    with TemporaryDirectory() as folder:
        file = Path(folder, name_file(tool))
        file.write_text(written, "utf-8")
        for lenient in (False, True):
            try:
                translation = translate_suite(file, lenient=lenient)
            except InvalidInput as error:
                told = str(error)
                line = rf"{re.escape(file.name)}:[0-9]+"
                assert re.search(line, told) and key in told  # noqa: PT018 - one outcome
                continue
            assert translation is not None
            told = json.dumps(translation.content) + "\n".join(translation.notes)
            # It is carried over, told, or belongs to a part that is told to count for nothing.
            assert key in told or any(repr(step) in told for step in path)


def build_hostile_files(tool: str) -> dict[str, bytes]:
    """Return files of the tool's format, with what must cost nothing to refuse."""
    if tool == "mcp_builder":
        pair = b"<qa_pair><question>a</question><answer>b</answer></qa_pair>"
        entities = b"<!DOCTYPE x [<!ENTITY a 'aaaaaaaaaa'><!ENTITY b '&a;&a;&a;&a;&a;&a;'>]>"
        return {
            "entities": entities + b"<evaluation>" + pair + b"</evaluation>",
            "deep": b"<a>" * 50_000 + pair,
            "large": b"<evaluation>" + pair + b"</evaluation>" + b" " * 50_000_000,
        }
    text = yaml.safe_dump(EVERYTHING[tool])
    bomb = "zz0: &a0 [x, x]\n" + "".join(
        f"zz{level}: &a{level} [{', '.join([f'*a{level - 1}'] * 9)}]\n" for level in range(1, 20)
    )
    return {
        "aliases": f"{text}{bomb}".encode(),
        "deep": f"{text}zz: {'[' * 50_000}".encode(),
        "large": text.encode() + b"#" * 50_000_000,
    }


@pytest.mark.parametrize("kind", ["entities", "aliases", "deep", "large"])
@pytest.mark.parametrize("tool", ["mcp_builder", *EVERYTHING])
def test_a_hostile_file_is_refused_in_bounded_time(tool: str, kind: str, tmp_path: Path) -> None:
    hostile = build_hostile_files(tool).get(kind)
    if hostile is None:
        return
    file = tmp_path / name_file(tool)
    file.write_bytes(hostile)
    begun = time.process_time()
    with pytest.raises((InvalidInput, UsageError), match=file.name):
        read_suite(file, VOCABULARY)
    assert time.process_time() - begun < 3


FORMS: dict[str, Callable[[Any], str]] = {
    "s.yml": yaml.safe_dump,
    "s.yaml": lambda value: yaml.safe_dump(value, default_flow_style=True),
    "s.json": lambda value: json.dumps(value, indent=2),
    "one-line.json": json.dumps,
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("tool", EVERYTHING)
def test_a_file_is_recognised_and_means_the_same_in_every_form(
    tool: str, form: str, tmp_path: Path
) -> None:
    if (tool == "mcp_evals" and form.endswith("json")) or (tool == "gleanwork" and "y" in form):
        return  # The original does not read it.
    file = tmp_path / form
    file.write_text(FORMS[form](EVERYTHING[tool]), "utf-8")
    assert is_recognised(load_built_in()[tool.removesuffix("_first")], file)
    found = translate_suite(file)
    assert found is not None
    plain = tmp_path / name_file(tool)
    plain.write_text(json.dumps(EVERYTHING[tool]), "utf-8")
    other = translate_suite(plain)
    assert other is not None
    assert {**found.content, "suite": "s"} == {**other.content, "suite": "s"}


@pytest.mark.parametrize("tool", EVERYTHING)
def test_a_converted_suite_judges_as_its_original(tool: str, tmp_path: Path) -> None:
    source, target = tmp_path / name_file(tool), tmp_path / "ours.yml"
    source.write_text(json.dumps(EVERYTHING[tool]), "utf-8")
    convert_suite(source, target, VOCABULARY)
    theirs, ours = (read_suite(path, VOCABULARY) for path in (source, target))
    assert [[check.dump_params() for check in case.checks] for case in theirs.cases] == [
        [check.dump_params() for check in case.checks] for case in ours.cases
    ]
