from __future__ import annotations

import sys

import pytest

from harness.base.errors import UsageError
from harness.base.importing import (
    NoSuchModule,
    find_reference,
    import_object,
    locate_function,
    may_be_reference,
    names_a_file,
)
from harness.runner.internal_suite import InternalSuite
from tests.suites.in_python.python_project import PythonProject, project

__all__ = ["project"]

SUITE = """
    class Suite:
        name = "s"

        class Inner:
            name = "inner"

    made = Suite()
"""


class Local:
    """A class that can be imported."""


class Configured:
    def __init__(self, size: int = 1) -> None:
        self.size = size


at_hand = Configured(5)


@pytest.mark.parametrize(
    "reference",
    ["bench.suite:Suite", "bench.suite.Suite", "bench/suite.py:Suite", "./bench/suite.py:Suite"],
)
def test_a_class_is_found_in_the_working_directory(project: PythonProject, reference: str) -> None:
    project.write("bench/suite.py", SUITE)
    assert import_object(reference).name == "s"


def test_a_nested_class_and_a_variable_are_found(project: PythonProject) -> None:
    project.write("bench/suite.py", SUITE)
    assert import_object("bench.suite:Suite.Inner").name == "inner"
    assert import_object("bench.suite.Suite.Inner").name == "inner"
    assert import_object("bench.suite.made").name == "s"


def test_a_file_is_imported_once_and_what_lies_beside_it_is_importable(
    project: PythonProject,
) -> None:
    project.write("bench/suite.py", "from beside import Suite\n")
    project.write("bench/beside.py", SUITE)
    assert import_object("bench/suite.py:Suite") is import_object("bench/suite.py:Suite")


def test_two_files_of_one_name_are_two_modules(project: PythonProject) -> None:
    project.write("a/suite.py", "class Suite: name = 'a'")
    project.write("b/suite.py", "class Suite: name = 'b'")
    assert [import_object(f"{folder}/suite.py:Suite").name for folder in "aba"] == ["a", "b", "a"]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("import no_such_package\n", ("suite.py:1:", "No module named 'no_such_package'")),
        ("x = 1\ny = {}['key']\n", ("suite.py:2:", "KeyError: 'key'")),
        ("def broken(:\n    pass\n", ("suite.py:1:", "SyntaxError")),
        ("import sys\nsys.exit('not today')\n", ("suite.py:2:", "SystemExit: not today")),
        ("import json\n\njson.loads('{')\n", ("suite.py:3:", "JSONDecodeError")),
    ],
)
@pytest.mark.parametrize("reference", ["suite:Suite", "suite.Suite", "suite.py:Suite"])
def test_what_an_import_raises_is_told_with_the_users_own_line(
    project: PythonProject, text: str, words: tuple[str, ...], reference: str
) -> None:
    project.write("suite.py", text)
    with pytest.raises(UsageError) as caught:
        import_object(reference)
    for word in words:
        assert word in str(caught.value)
    assert "cannot be imported" in str(caught.value)


def test_a_module_that_is_not_there_is_answered_with_the_nearest(project: PythonProject) -> None:
    project.write("bench/__init__.py", "")
    project.write("bench/capitals.py", SUITE)
    for reference in ("bench.capital:Suite", "bench.capital.Suite"):
        with pytest.raises(
            NoSuchModule, match=r"there is no module 'bench.capital'\n  Did you mean 'capitals'"
        ):
            import_object(reference)
    with pytest.raises(NoSuchModule, match=r"there is no module 'benchh'\n  Did you mean 'bench'"):
        import_object("benchh:Suite")
    with pytest.raises(UsageError, match="there is no file"):
        import_object("bench/capital.py:Suite")


def test_a_class_that_is_not_there_is_answered_with_the_nearest(project: PythonProject) -> None:
    project.write("bench.py", SUITE)
    with pytest.raises(UsageError, match=r"bench has no 'Suit'\n  Did you mean 'Suite'"):
        import_object("bench:Suit")
    with pytest.raises(UsageError, match="Its classes: Suite"):
        import_object("bench:Another")


def test_a_module_is_no_suite(project: PythonProject) -> None:
    project.write("bench/__init__.py", "")
    project.write("bench/inner.py", "x = 1")
    assert import_object("bench.inner:x") == 1
    with pytest.raises(UsageError, match="is a module"):
        import_object("bench:inner")


@pytest.mark.parametrize("text", ["a.b", "a.b.C", "a:B", "a.b:C.D", "x/y.py:C", "über.modul:Suite"])
def test_what_may_be_a_reference(text: str) -> None:
    assert may_be_reference(text)


@pytest.mark.parametrize(
    "text", ["", "shop", "a b:c", "a..b", ".a", "a:", "customer analysis", "x/y.py", "1.5"]
)
def test_what_is_none(text: str) -> None:
    assert not may_be_reference(text)
    assert not names_a_file(text)


def test_a_class_has_a_reference_that_leads_back_to_it() -> None:
    for target in (Local, InternalSuite):
        reference = find_reference(target)
        assert reference is not None
        assert import_object(reference) is target


def test_an_instance_is_named_by_its_variable_or_by_a_class_that_takes_nothing() -> None:
    assert find_reference(at_hand) == f"{__name__}:at_hand"
    assert find_reference(Local()) == f"{__name__}:Local"
    assert find_reference(Configured(7)) is None


def test_what_no_import_can_find_has_no_reference(monkeypatch: pytest.MonkeyPatch) -> None:
    class Hidden:
        pass

    assert find_reference(Hidden) is None
    assert find_reference(type("Made", (), {})) is None
    monkeypatch.delitem(sys.modules, Local.__module__)
    assert find_reference(Local) is None


def test_the_place_of_a_function_is_its_file_and_line() -> None:
    place = locate_function(test_what_is_none)
    assert place is not None
    assert place.file.endswith("test_python_import.py")
    assert locate_function(len) is None
