import hashlib
import json
import os
import re
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from harness.base.documents import document
from harness.base.documents.document import Document, read_document
from harness.base.errors import InvalidInput


@pytest.fixture(params=["fast", "plain"], autouse=True)
def _loader(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Run every test with the parser in C, where there is one, and with the one in Python."""
    if request.param == "plain":
        monkeypatch.setattr(document, "_LOADER", yaml.SafeLoader)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def read(folder: Path, content: str | bytes) -> Document:
    path = folder / "x.yml"
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return read_document(path)


def said(folder: Path, content: str | bytes) -> list[str]:
    """Return the problems of a file, whether they end its reading or not."""
    try:
        return [str(problem).split("\n")[0] for problem in read(folder, content).problems]
    except InvalidInput as error:
        return [str(problem).split("\n")[0] for problem in error.problems]


def refused(folder: Path, content: str | bytes) -> str:
    with pytest.raises(InvalidInput) as caught:
        read(folder, content)
    return str(caught.value)


def test_what_is_read_is_plain_data(folder: Path) -> None:
    found = read(folder, 'a: [1, 2.5, true, null]\n"b":\n  c: |-\n    two\n    lines\n')
    assert found.value == {"a": [1, 2.5, True, None], "b": {"c": "two\nlines"}}
    assert not found.problems


def test_quoted_words_are_text(folder: Path) -> None:
    assert read(folder, "a: \"1.0\"\nb: 'true'\nc: !!str 5\n").value == {
        "a": "1.0",
        "b": "true",
        "c": "5",
    }


def test_dates_stay_text(folder: Path) -> None:
    assert read(folder, "since: 2024-05-01\n").value == {"since": "2024-05-01"}


def test_yes_and_no_are_text_as_values_and_as_keys(folder: Path) -> None:
    assert read(folder, "on: yes\nno: off\n").value == {"on": "yes", "no": "off"}


def test_an_empty_file_is_null(folder: Path) -> None:
    assert read(folder, "# only a comment\n").value is None


def test_a_byte_order_mark_and_windows_line_ends_change_nothing(folder: Path) -> None:
    found = read(folder, b"\xef\xbb\xbfa: 1\r\nb: {c: 2}\r\n")
    assert found.value == {"a": 1, "b": {"c": 2}}
    assert str(found.locate(("b", "c"))) == "x.yml:2:8"


def test_the_digest_is_that_of_the_bytes(folder: Path) -> None:
    content = b"\xef\xbb\xbfa: 1\r\n"
    assert read(folder, content).digest == hashlib.sha256(content).hexdigest()


# ── Positions ────────────────────────────────────────────────────────────────────────────────


def test_every_part_knows_its_line_and_column(folder: Path) -> None:
    found = read(folder, "tests:\n  - name: é\n    args: {ü: [x, y]}\n")
    assert str(found.locate(("tests", 0))) == "x.yml:2:5"
    assert str(found.locate(("tests", 0, "name"))) == "x.yml:2:11"
    assert str(found.locate(("tests", 0, "args", "ü", 1))) == "x.yml:3:19"
    assert str(found.locate_key(("tests", 0, "args", "ü"))) == "x.yml:3:12"


def test_a_value_below_its_key_is_found_at_its_key(folder: Path) -> None:
    found = read(folder, "a:\n  b: 1\n")
    assert str(found.locate(("a",))) == "x.yml:1:1"
    assert str(found.locate(("a", "b"))) == "x.yml:2:6"


def test_a_part_that_does_not_exist_is_found_at_what_surrounds_it(folder: Path) -> None:
    found = read(folder, "a: {b: 1}\n")
    assert found.locate(("a", "missing", 5)) == found.locate(("a",))
    assert found.locate_key(("a", "missing")) == found.locate(("a",))
    assert found.locate_key(("missing", "deeper")) == found.locate(())
    assert found.locate_key(()) == found.locate(())


def test_an_alias_stands_where_it_is_used(folder: Path) -> None:
    found = read(folder, "a: &x {b: 1}\nc: *x\n")
    assert str(found.locate(("c",))) == "x.yml:2:4"
    assert str(found.locate(("c", "b"))) == "x.yml:1:11"


def test_files_outside_of_the_working_directory_are_shown_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "inside").mkdir()
    monkeypatch.chdir(tmp_path / "inside")
    path = tmp_path / "x.yml"
    path.write_text("a: 1")
    assert read_document(path).file == str(path)


def test_a_name_that_only_begins_with_dots_is_inside(folder: Path) -> None:
    (folder / "..x.yml").write_text("a: 1")
    assert read_document(folder / "..x.yml").file == "..x.yml"


def test_a_file_name_that_is_not_utf_8_can_still_be_printed(folder: Path) -> None:
    path = folder / os.fsdecode(b"\xff.yml")
    path.write_text("a: 1")
    read_document(path).file.encode("utf-8")


_TEXT = st.text(st.characters(exclude_characters="\x85\u2028\u2029", codec="utf-8")).filter(
    # A number to JSON, text to the YAML 1.1 that these tests write with: 1e3 and 0o17.
    lambda text: not re.match(r"[-+.]?\d", text)
)
_JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | _TEXT,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(_TEXT, inner, max_size=4),
    max_leaves=20,
)


@given(value=_JSON)
def test_whatever_yaml_can_write_of_json_is_read_back(
    value: Any, tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path_factory.getbasetemp() / "json.yml"
    path.write_text(yaml.safe_dump(value, allow_unicode=True), encoding="utf-8", newline="")
    found = read_document(path)
    assert found.value == value
    assert not found.problems


def _has_halves(value: Any) -> bool:
    """Whether JSON writes a character of ``value`` as two halves, which YAML does not join."""
    return any(ord(character) > 0xFFFF for character in json.dumps(value, ensure_ascii=False))


@given(value=_JSON)
def test_json_is_yaml(value: Any, tmp_path_factory: pytest.TempPathFactory) -> None:
    path = tmp_path_factory.getbasetemp() / "json.yml"
    for indent in (None, 2):
        path.write_text(
            json.dumps(value, indent=indent).replace("\x7f", "\\u007f"), encoding="utf-8"
        )
        try:
            found = read_document(path)
        except InvalidInput as error:
            assert _has_halves(value), error  # noqa: PT017 - most values are read without an error
            continue
        assert found.value == value or (found.problems and _has_halves(value))


# ── Mistakes ─────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        ("a: 1\nb: 2\na: 3\n", "x.yml:3:1: the key 'a' is given twice; first at line 1."),
        ("a: {b: 1, b: 2}\n", "x.yml:1:11: the key 'b' is given twice; first at line 1."),
        ("a: 1\n5: 2\n", "x.yml:2:1: a key must be text."),
        ("true: 2\n", "x.yml:1:1: a key must be text."),
        ("? [a]\n: 2\n", "x.yml:1:3: a key must be text."),
        ("? \n: 2\n", "x.yml:1:2: a key must be text."),
        ("a: !thing 1\n", "x.yml:1:4: a tag (!…) is not allowed."),
        ("a: !!python/object/apply:os.system [ls]\n", "x.yml:1:4: a tag (!…) is not allowed."),
        ("a: !!set {b, c}\n", "x.yml:1:4: a tag (!…) is not allowed."),
        ("a: .nan\n", "x.yml:1:4: .nan is not a number in JSON."),
        ("a: [1, -.inf]\n", "x.yml:1:8: -.inf is not a number in JSON."),
        ("a: 1\n---\nb: 2\n", "x.yml:2:1: a second document begins in the file."),
        ("a: *nothing\n", "x.yml:1:4: an alias (*…) refers to nothing that ends above it."),
        ("a: &a [*a]\n", "x.yml:1:8: an alias (*…) refers to nothing that ends above it."),
        ("<<: 5\n", "x.yml:1:1: '<<' takes a mapping, or a list of mappings."),
    ],
)
def test_what_json_could_not_say_is_a_problem_with_its_place(
    folder: Path, content: str, problem: str
) -> None:
    assert said(folder, content) == [problem]


def test_all_problems_are_collected(folder: Path) -> None:
    assert len(said(folder, "a: 1\na: 2\n5: .nan\nb: !x y\n")) == 4


@pytest.mark.parametrize(
    ("content", "place", "advice"),
    [
        ("a: b: c\n", "1:5", "Quote a text that contains ': '"),
        ("a:\n\tb: 1\n", "2:1", "no tabs"),
        ("a: @home\n", "1:4", "begins with '@'"),
        ("a: `x`\n", "1:4", "begins with '`'"),
        ('a: "open\nb: 1\n', "1:4", "quotation mark"),
        ("a: [1, 2\nb: 3\n", "1:4", "close it with ']'"),
        ("a: {b: 1\n", "1:4", "close it with '}'"),
        ("a:\n  - b\n c: d\n", "3:2", "in the same column"),
        ("a: 5\nb c\n", None, "'key: value'"),
        ('a: "\\q"\n', None, "single quotes"),
        ("a: b\n- c\n", "2:1", "in the same column"),
        ("a: |x\n", None, "evenly"),
    ],
)
def test_a_syntax_error_says_where_and_what_usually_helps(
    folder: Path, content: str, place: str | None, advice: str
) -> None:
    message = refused(folder, content)
    assert message.startswith(f"x.yml:{place or ''}")
    assert "YAML syntax: " in message
    assert advice in message


def test_a_file_that_is_not_utf_8_is_refused_at_its_first_wrong_byte(folder: Path) -> None:
    assert refused(folder, b"a: \xc3\xa9\nb: \xff\n").startswith(
        "x.yml:2:4: the file is not UTF-8 text."
    )


def test_a_file_in_utf_16_is_refused(folder: Path) -> None:
    assert "not UTF-8" in refused(folder, "a: 1".encode("utf-16"))


@pytest.mark.parametrize(
    "character", ["\0", "\x07", "\x1b", "\x7f", "\x9b", "\ufffe", "\x85", "\u2028"]
)
def test_characters_that_editors_and_yaml_disagree_on_are_refused_where_they_stand(
    folder: Path, character: str
) -> None:
    message = refused(folder, f"a: 1\nb: x{character}\n")
    assert message.startswith(
        f"x.yml:2:5: the character U+{ord(character):04X} is not allowed in a YAML file."
    )


def test_half_a_character_is_refused(folder: Path) -> None:
    (problem,) = said(folder, 'a: "\\ud800"\n')
    assert problem.startswith("x.yml:1:")


def test_a_file_that_is_too_large_is_refused(folder: Path) -> None:
    assert "larger than 5 MB" in refused(folder, b"# " + b"x" * document.MAX_BYTES)


def test_a_missing_file_and_a_folder_are_refused(folder: Path) -> None:
    for path in (folder / "none.yml", folder):
        with pytest.raises(InvalidInput, match="cannot be read"):
            read_document(path)


# ── Files made to exhaust their reader ───────────────────────────────────────────────────────


@pytest.mark.parametrize(
    "content", ["[" * 100_000, "{a: " * 100_000, "- " * 100_000, "? " * 10_000]
)
def test_deep_nesting_is_refused(folder: Path, content: str) -> None:
    assert "nested deeper than 100 levels" in refused(folder, content)


def test_nesting_through_aliases_counts_as_nesting(folder: Path) -> None:
    chain = "\n".join(f"a{i}: &a{i} {'[' * 40}*a{i - 1}{']' * 40}" for i in range(1, 9))
    assert "nested deeper" in refused(folder, f"a0: &a0 x\n{chain}\n")


def test_aliases_that_multiply_are_refused(folder: Path) -> None:
    bomb = "\n".join(f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 10)}]" for i in range(1, 12))
    assert "repeat too much" in refused(folder, f"a0: &a0 lol\n{bomb}\n")


def test_a_long_text_that_is_repeated_counts_with_its_length(folder: Path) -> None:
    repeated = ", ".join(["*x"] * 1100)
    assert "repeat too much" in refused(folder, f"a: &x {'y' * 1000}\nb: [{repeated}]\n")


# ── Aliases and merge keys ───────────────────────────────────────────────────────────────────


def test_an_alias_repeats_a_value(folder: Path) -> None:
    assert read(folder, "a: &x {b: 1}\nc: *x\n").value == {"a": {"b": 1}, "c": {"b": 1}}


def test_a_merge_key_adds_what_is_not_given(folder: Path) -> None:
    found = read(folder, "a: &a {x: 1, y: 2}\nb: &b {y: 3, z: 4}\nc: {<<: [*a, *b], x: 0}\n")
    assert found.value["c"] == {"x": 0, "y": 2, "z": 4}
    assert not found.problems
    assert (
        yaml.safe_load("a: &a {x: 1, y: 2}\nb: &b {y: 3, z: 4}\nc: {<<: [*a, *b], x: 0}\n")
        == found.value
    )


def test_a_quoted_merge_key_is_a_key(folder: Path) -> None:
    assert read(folder, '"<<": 5\n').value == {"<<": 5}
