"""What is written as YAML is read back as the same data, by the reader of suites."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.base.documents.document import read_document
from harness.descriptions.drafting.render import Inline, comment_out, dump_yaml, format_comment

_TRICKY = st.sampled_from(
    ["", " ", "no", "yes", "null", "~", "1e5", "0o17", "0x1F", "007", ".5", "1_000", "12:30",
     "2025-05-14", "<<", "=",
     "- a", "a: b", "a #b", "#", "[a", "{a", "&a", "*a", "!a", "%a", "@a", "`a", "|", ">", "?",
     ": ", "'", '"', "\\", "${X}", "${X:-{}", "a\n", "\na", "a\n\nb", " a ", "\t", "\x85", "\u2028",
     "\ufeff", "\x07", "\x7f", "é", "😀", "---", "..."]
)  # fmt: skip
# Two characters stand for braces while the reader is at work.
_CHARACTERS = st.characters(exclude_categories=["Cs"], exclude_characters="\ufdd0\ufdd1")
_TEXTS = st.one_of(
    _TRICKY, st.text(_CHARACTERS, max_size=30), st.text("ab ", min_size=100, max_size=300)
)
_DATA: st.SearchStrategy[Any] = st.recursive(
    st.one_of(
        st.none(),
        st.booleans(),
        st.integers(),
        st.floats(allow_nan=False, allow_infinity=False),
        _TEXTS,
    ),
    lambda parts: st.one_of(
        st.lists(parts, max_size=4), st.dictionaries(_TEXTS, parts, max_size=4)
    ),
    max_leaves=10,
)


def read(text: str, folder: Path) -> Any:
    path = folder / "data.yml"
    path.write_text(text, encoding="utf-8", newline="\n")
    document = read_document(path)
    assert document.problems == ()
    return document.value


@given(_DATA, st.booleans())
def test_data_comes_back_as_it_was(
    tmp_path_factory: pytest.TempPathFactory, data: Any, inline: bool
) -> None:
    text = dump_yaml({"data": Inline(data) if inline else data})
    value = read(text, tmp_path_factory.getbasetemp())["data"]
    assert value == data
    assert repr(value) == repr(data)


@given(st.text(max_size=300))
def test_a_comment_stays_one_whatever_is_in_it(
    tmp_path_factory: pytest.TempPathFactory, text: str
) -> None:
    written = format_comment(text, indent=2)
    assert all(line.startswith("  # ") for line in written.splitlines())
    assert read(f"{written}a: 1\n", tmp_path_factory.getbasetemp()) == {"a": 1}


def test_what_is_commented_out_is_the_same_without_its_marks(tmp_path: Path) -> None:
    data = {"prompt": "word " * 60, "args": Inline({"a": [1, "b # c"]})}
    written = comment_out(dump_yaml(data))
    assert read(f"{written}a: 1\n", tmp_path) == {"a": 1}
    uncommented = "".join(line.removeprefix("# ") for line in written.splitlines(keepends=True))
    assert read(uncommented, tmp_path) == {"prompt": "word " * 60, "args": {"a": [1, "b # c"]}}


def test_a_list_stands_on_one_line_if_it_is_asked_to() -> None:
    assert dump_yaml({"a": Inline(["x", {"y": 1}]), "b": ["x"]}) == "a: [x, {y: 1}]\nb:\n  - x\n"
