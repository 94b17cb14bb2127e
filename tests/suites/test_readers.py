"""The reader of a file is chosen by its extension, and by its content if formats share it."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from harness.base.errors import InvalidInput, UsageError
from harness.base.registry import Registry
from harness.suites.formats import SuiteFormat, load_built_in
from harness.suites.readers import READERS, Reader, Vocabulary, is_suite_file, read_suite
from harness.types import Case, Suite
from tests.base.test_registry import installed
from tests.suites.files import TESTS, write
from tests.suites.vocabulary import PlainVocabulary

OURS = f"suite: shop\n{TESTS}"
THEIRS = "description: shop\nprompts: [Hello]\n"


def read_theirs(path: Path, vocabulary: Vocabulary) -> Suite:
    """Read a file of another tool's format."""
    return Suite(name=f"theirs {path.name}", cases=(Case(name="a", prompt="Hello", checks=()),))


def says(words: bytes) -> Callable[[Path, Any], bool]:
    return lambda _, file: words in file.read(1000)


THEIR_FORMAT = SuiteFormat(
    extensions=(".yml", ".yaml"),
    recognises=says(b"prompts:"),
    looks_for="'prompts:'",
    reads=read_theirs,
)


@pytest.fixture
def two_formats(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have a second format in YAML beside our own, as if its file stood beside ours."""
    monkeypatch.setattr(
        "harness.suites.readers.load_built_in", lambda: {**load_built_in(), "theirs": THEIR_FORMAT}
    )


def named(path: Path) -> str:
    return read_suite(path, PlainVocabulary()).name


@pytest.mark.usefixtures("two_formats")
def test_a_second_format_with_the_same_extension_is_told_apart_by_what_a_file_says(
    tmp_path: Path,
) -> None:
    assert named(write(tmp_path / "ours.yml", OURS)) == "shop"
    assert named(write(tmp_path / "theirs.yml", THEIRS)) == "theirs theirs.yml"


@pytest.mark.usefixtures("two_formats")
def test_a_file_that_two_formats_recognise_is_an_error_that_says_by_what(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="several formats: yaml_suite, theirs") as caught:
        named(write(tmp_path / "both.yml", f"{OURS}prompts: [Hello]\n"))
    assert caught.value.meant is not None
    assert "'suite:' and 'tests:'" in caught.value.meant
    assert "'prompts:' (theirs)" in caught.value.meant


@pytest.mark.usefixtures("two_formats")
def test_a_file_that_no_format_recognises_is_an_error_that_says_what_was_looked_for(
    tmp_path: Path,
) -> None:
    with pytest.raises(UsageError, match="not a suite of a known format") as caught:
        named(write(tmp_path / "neither.yml", "services: {}\n"))
    assert caught.value.meant is not None
    assert "'suite:' and 'tests:'" in caught.value.meant
    assert "'prompts:' (theirs)" in caught.value.meant


def test_with_one_format_for_an_extension_its_reader_tells_what_is_wrong_and_where(
    tmp_path: Path,
) -> None:
    with pytest.raises(InvalidInput, match="neither 'suite:' nor 'tests:'"):
        named(write(tmp_path / "neither.yml", "services: {}\n"))


def test_a_file_with_another_extension_is_an_error_that_names_the_known_ones(
    tmp_path: Path,
) -> None:
    with pytest.raises(UsageError, match="is not a suite file") as caught:
        named(write(tmp_path / "shop.toml", OURS))
    assert all(extension in str(caught.value.meant) for extension in (".yml", ".csv", ".jsonl"))


def test_another_package_brings_a_format_for_an_extension_of_its_own_or_of_ours(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    members = f"toml = {__name__}:read_theirs\nyml-theirs = {__name__}:THEIR_FORMAT"
    installed(tmp_path, {"harness.suites": members}, monkeypatch)
    monkeypatch.setattr("harness.suites.readers.READERS", _fresh_registry())
    assert is_suite_file(tmp_path / "a.toml")
    assert named(write(tmp_path / "a.toml", "anything")) == "theirs a.toml"
    assert named(write(tmp_path / "theirs.yml", THEIRS)) == "theirs theirs.yml"
    assert named(write(tmp_path / "ours.yml", OURS)) == "shop"


def test_a_reader_of_all_files_with_an_extension_takes_none_from_our_own_formats(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    installed(tmp_path, {"harness.suites": f"yml = {__name__}:read_theirs"}, monkeypatch)
    monkeypatch.setattr("harness.suites.readers.READERS", _fresh_registry())
    assert named(write(tmp_path / "ours.yml", OURS)) == "shop"
    with pytest.raises(InvalidInput, match="neither 'suite:' nor 'tests:'"):
        named(write(tmp_path / "x.yml", "services: {}\n"))


@pytest.mark.parametrize("name", load_built_in())
def test_every_format_says_what_it_looks_for_and_its_reader_is_there(name: str) -> None:
    one = load_built_in()[name]
    assert one.looks_for
    assert all(extension.startswith(".") for extension in one.extensions)
    reader = one.reads or one.translates
    assert isinstance(reader, str)
    module, attribute = reader.split(":")
    assert callable(getattr(__import__(module, fromlist=[attribute]), attribute))


def test_formats_are_recognised_without_the_nouns_or_any_reader() -> None:
    script = (
        "import sys\nfrom harness.suites.formats import load_built_in\nload_built_in()\n"
        "print([name for name in sys.modules if name.startswith('harness.')])"
    )
    printed = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, timeout=120, check=True
    ).stdout
    loaded = set(ast.literal_eval(printed))
    assert {name for name in loaded if not name.startswith("harness.suites.")} == {
        "harness.base",
        "harness.base.platforms",
        "harness.re_exports",
        "harness.suites",
        "harness.types",
        "harness.types.shared_dataclass",
        "harness.version",
    }
    assert "harness.suites.readers" not in loaded


def _fresh_registry() -> Any:
    return Registry[SuiteFormat | Reader](READERS.group, "sort of suite", {})
