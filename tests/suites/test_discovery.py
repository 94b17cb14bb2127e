import os
from collections.abc import Sequence
from pathlib import Path

import pytest

from harness.base.errors import InvalidInput, NothingToRun, UsageError
from harness.suites.discovery import find_suites, list_suite_files, select_cases
from harness.suites.readers import Vocabulary, read_suite
from harness.types import Suite
from tests.suites.files import TESTS, write
from tests.suites.vocabulary import PlainVocabulary


@pytest.fixture(autouse=True)
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Work in an empty project; ``evals`` is its own folder, ``builtin`` that of others."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def suite(path: str, name: str, extra: str = "") -> Path:
    return write(Path(path), f"suite: {name}\n{extra}{TESTS}")


def find(*names: str) -> tuple[Suite, ...]:
    return find_suites(names, [Path("evals"), Path("builtin")], PlainVocabulary())


def found(*names: str) -> list[str]:
    return [suite.name for suite in find(*names)]


def told(*names: str) -> str:
    with pytest.raises((UsageError, NothingToRun)) as caught:
        find(*names)
    return str(caught.value)


# ── Which files ──────────────────────────────────────────────────────────────────────────────


def files(folder: str = "evals") -> Sequence[str]:
    return [path.as_posix() for path in list_suite_files(Path(folder))]


def test_yml_and_yaml_files_of_all_subfolders_are_found_in_order() -> None:
    for path in (
        "evals/b.yml",
        "evals/a.yaml",
        "evals/sub/deep/c.YML",
        "evals/notes.txt",
        "evals/z.json",
    ):
        suite(path, "x")
    assert files() == ["evals/a.yaml", "evals/b.yml", "evals/sub/deep/c.YML"]


def test_hidden_files_and_folders_are_left_out() -> None:
    suite("evals/.hidden.yml", "x")
    suite("evals/.git/config.yml", "x")
    suite("evals/a.yml", "a")
    assert files() == ["evals/a.yml"]


def test_links_are_followed_and_never_in_circles() -> None:
    suite("evals/a.yml", "a")
    suite("shared/s.yml", "s")
    Path("evals/loop").symlink_to(Path("../evals"))
    Path("evals/more").symlink_to(Path("../shared"))
    Path("evals/more_again").symlink_to(Path("../shared"))
    Path("shared/back").symlink_to(Path("../evals"))
    assert files() == ["evals/a.yml", "evals/more/s.yml"]


def test_a_file_that_is_linked_twice_is_one_file() -> None:
    suite("evals/a.yml", "a")
    Path("evals/b.yml").symlink_to("a.yml")
    assert files() == ["evals/a.yml"]


def test_a_link_to_nothing_is_told(project: Path) -> None:
    Path("evals").mkdir()
    Path("evals/a.yml").symlink_to("nothing.yml")
    assert told() == "evals/a.yml: the file cannot be read: No such file or directory."


def test_a_pipe_is_never_opened_while_searching() -> None:
    Path("evals").mkdir()
    os.mkfifo("evals/pipe.yml")
    assert files() == []


def test_a_folder_that_does_not_exist_has_no_files() -> None:
    assert files("nowhere") == []


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read every folder")
def test_a_folder_that_cannot_be_read_is_told() -> None:
    suite("evals/closed/a.yml", "a")
    Path("evals/closed").chmod(0)
    try:
        assert "evals/closed cannot be read" in told()
    finally:
        Path("evals/closed").chmod(0o700)


# ── Which suites ─────────────────────────────────────────────────────────────────────────────


def test_without_names_all_suites_of_the_project_are_found_and_no_others() -> None:
    suite("evals/b.yml", "first")
    suite("evals/c.yml", "second")
    suite("builtin/d.yml", "other")
    assert found() == ["first", "second"]


def test_without_suites_of_its_own_a_project_has_nothing_to_run_and_hears_of_named_suites() -> None:
    suite("builtin/d.yml", "other")
    suite("builtin/e.yml", "another")
    Path("evals").mkdir()
    with pytest.raises(NothingToRun) as caught:
        find()
    assert "there are no suites in evals/" in str(caught.value)
    assert "run by name: another, internal, other." in str(caught.value)
    assert found("other") == ["other"]


def test_no_suites_at_all_is_nothing_to_run() -> None:
    with pytest.raises(NothingToRun, match="no suites in evals/\n"):
        find()


def test_names_are_found_in_the_order_in_which_they_are_asked_for() -> None:
    suite("evals/a.yml", "a")
    suite("evals/b.yml", "b")
    suite("builtin/c.yml", "c")
    assert found("c", "b", "a") == ["c", "b", "a"]


def test_a_suite_of_the_project_goes_before_one_that_is_built_in() -> None:
    suite("evals/a.yml", "a")
    suite("builtin/a.yml", "a", "description: the other one\n")
    assert find("a")[0].description is None


def test_a_path_names_a_file_or_a_folder() -> None:
    suite("evals/a.yml", "a")
    suite("evals/sub/b.yml", "b")
    suite("else/c.yml", "c")
    assert found("else/c.yml") == ["c"]
    assert found("evals/sub") == ["b"]
    assert found("evals") == ["a", "b"]
    assert found("else") == ["c"]
    assert found(str(Path("else/c.yml").absolute())) == ["c"]


def test_a_file_in_the_working_directory_needs_no_slash() -> None:
    suite("c.yml", "c")
    assert found("c.yml") == ["c"]


def test_a_suite_goes_before_a_folder_of_its_name() -> None:
    suite("evals/a.yml", "shop")
    suite("shop/b.yml", "b")
    assert found("shop") == ["shop"]


def test_a_suite_that_is_asked_for_twice_is_found_once() -> None:
    suite("evals/a.yml", "a")
    assert found("a", "evals/a.yml", "evals", "a") == ["a"]


def test_locations_are_shown_as_the_user_types_them() -> None:
    suite("evals/a.yml", "a")
    assert str(find("a")[0].at) == "evals/a.yml:1:8"


# ── What is told ─────────────────────────────────────────────────────────────────────────────


def test_an_unknown_suite_is_told_the_nearest_and_all_that_are_known() -> None:
    suite("evals/a.yml", "shop")
    suite("builtin/b.yml", "data_governance")
    assert told("data_goverance") == (
        "there is no suite named 'data_goverance'\n"
        "  Did you mean 'data_governance'?\n"
        "  Known suites: shop, data_governance."
    )


def test_an_unknown_suite_of_no_suites_is_told_so() -> None:
    assert told("shop") == "there is no suite named 'shop'\n  There are no suites yet."


def test_an_unknown_path_is_told_the_nearest_file() -> None:
    suite("evals/shop.yml", "shop")
    assert (
        told("evals/shp.yml")
        == "there is no file or folder 'evals/shp.yml'\n  Did you mean 'evals/shop.yml'?"
    )


@pytest.mark.parametrize("name", ["x" * 5000, "nul\0", "", "ü/ö.yml"])
def test_strange_names_are_unknown(name: str) -> None:
    assert told(name).startswith("there is no")


def test_a_folder_without_suites_is_nothing_to_run() -> None:
    Path("empty").mkdir()
    with pytest.raises(NothingToRun, match="no suites in empty"):
        find("empty/")


def test_a_file_of_an_unknown_kind_is_told_the_known_ones() -> None:
    write(Path("evals/notes.txt"), "x")
    assert told("evals/notes.txt").startswith(
        "evals/notes.txt is not a suite file\n  A suite's name ends in one of: .csv"
    )


def test_a_yaml_file_that_is_no_suite_is_told_so() -> None:
    suite("evals/a.yml", "a")
    write(Path("evals/other.yml"), "openapi: 3.0.0\n")
    assert told().startswith("evals/other.yml: this is not a suite")


def test_two_suites_of_one_name_are_told_with_both_places() -> None:
    suite("evals/a.yml", "shop")
    suite("evals/b.yml", "shop")
    problem = "evals/b.yml:1:8: suite 'shop' is defined twice; first at evals/a.yml:1:8."
    for names in ([], ["shop"], ["evals"], ["evals/a.yml", "evals/b.yml"]):
        assert told(*names).startswith(problem)


def test_two_suites_of_one_name_do_not_matter_to_a_third() -> None:
    suite("evals/a.yml", "shop")
    suite("evals/b.yml", "shop")
    suite("evals/c.yml", "other")
    assert found("other") == ["other"]


# ── Broken files ─────────────────────────────────────────────────────────────────────────────


@pytest.fixture
def broken(project: Path) -> None:
    suite("evals/good.yml", "good")
    suite("evals/bad.yml", "bad", "modle: x\n")
    write(Path("evals/worse.yml"), "suite: worse\n  x: [\n")


@pytest.mark.usefixtures("broken")
def test_a_broken_file_does_not_stand_in_the_way_of_another_suite() -> None:
    suite("builtin/b.yml", "other")
    assert found("good") == ["good"]
    assert found("other") == ["other"]


@pytest.mark.usefixtures("broken")
def test_without_names_every_broken_file_is_an_error() -> None:
    with pytest.raises(InvalidInput) as caught:
        find()
    assert [problem.at.file for problem in caught.value.problems] == [
        "evals/bad.yml",
        "evals/worse.yml",
    ]


@pytest.mark.usefixtures("broken")
def test_a_broken_suite_that_is_asked_for_is_told_with_its_problems_alone() -> None:
    assert (
        told("bad")
        == "evals/bad.yml:2:1: unknown key 'modle' in the suite.\n    Did you mean 'model'?"
    )
    assert told("worse").startswith("evals/worse.yml:2:")
    assert "bad.yml" not in told("worse")


@pytest.mark.usefixtures("broken")
def test_a_broken_suite_is_never_replaced_by_another_of_its_name() -> None:
    suite("builtin/bad.yml", "bad")
    assert told("bad").startswith("evals/bad.yml:2:1")


@pytest.mark.usefixtures("broken")
def test_the_problems_of_broken_files_are_told_with_an_unknown_name() -> None:
    message = told("goood")
    assert message.startswith(
        "there is no suite named 'goood'\n  Did you mean 'good'?\n  Known suites: good.\n"
    )
    assert "These files are not valid suites:\n  evals/bad.yml:2:1: " in message


@pytest.mark.parametrize("line", ["suite: 'bad'", '"suite": "bad"  # comment', "suite:   bad "])
def test_a_broken_suite_is_known_by_its_name_however_it_is_written(line: str) -> None:
    write(Path("evals/x.yml"), f"{line}\nmodle: x\n{TESTS}")
    assert told("bad").startswith("evals/x.yml:2:1")


def test_a_broken_file_without_a_name_is_known_by_its_file_name() -> None:
    write(Path("evals/bad.yml"), TESTS)
    assert told("bad").startswith("evals/bad.yml:1:1: the suite has no 'suite'.")


# ── Reading by extension ─────────────────────────────────────────────────────────────────────


def test_yaml_is_read_under_both_of_its_names() -> None:
    for path in ("a.yml", "a.yaml", "a.YML"):
        assert read_suite(suite(path, "a"), PlainVocabulary()).name == "a"


# ── Cases ────────────────────────────────────────────────────────────────────────────────────


def _picked(pattern: str | None) -> list[str]:
    return [
        f"{suite.name}::{case.name}"
        for suite in select_cases(find(), pattern)
        for case in suite.cases
    ]


@pytest.fixture
def _two_suites(project: Path) -> None:
    more = "  - {name: two, prompt: x, expected_answer: x, tags: [slow]}\n"
    write(Path("evals/a.yml"), f"suite: a\n{TESTS}{more}")
    write(Path("evals/b.yml"), f"suite: b\ntags: [smoke]\n{TESTS}")


@pytest.mark.usefixtures("_two_suites")
@pytest.mark.parametrize(
    ("pattern", "picked"),
    [
        (None, ["a::one", "a::two", "b::one"]),
        ("one", ["a::one", "b::one"]),
        ("a::", ["a::one", "a::two"]),
        ("slow or smoke", ["a::two", "b::one"]),
        ("not slow", ["a::one", "b::one"]),
        ("nothing", []),
    ],
)
def test_a_pattern_picks_cases_and_drops_suites_that_keep_none(
    pattern: str | None, picked: list[str]
) -> None:
    assert _picked(pattern) == picked


@pytest.mark.usefixtures("_two_suites")
def test_picking_changes_nothing_but_the_cases() -> None:
    (whole, _), (part,) = find(), select_cases(find(), "slow")
    assert (part.name, part.digest, part.at) == (whole.name, whole.digest, whole.at)
    assert part.cases == whole.cases[1:]


@pytest.mark.usefixtures("_two_suites")
def test_a_pattern_that_does_not_parse_is_refused() -> None:
    with pytest.raises(UsageError, match="cannot be read"):
        select_cases(find(), "and")


SPELLINGS = (
    "suite: {name}",
    'suite: "{name}"',
    "'suite': '{name}'  # the name",
    '"suite" : "{name}"',
    "suite: >-\n  {name}",
    "suite:\n  {name}",
    'suite: "\\x{first:02x}{rest}"',
    "suite: &anchor {name}",
    "suite: !!str {name}",
    "? suite\n: {name}",
)


@pytest.mark.parametrize("name", ["shop", "two words", "a.b-c", "müller"])
def test_a_named_suite_is_found_however_its_file_spells_the_name(name: str) -> None:
    write(Path("evals/other.yml"), f"suite: other\n{TESTS}")
    for spelling in SPELLINGS:
        line = spelling.format(name=name, first=ord(name[0]), rest=name[1:])
        write(Path("evals/file.yml"), f"{line}\n{TESTS}")
        assert found(name) == [name], spelling


def test_a_named_suite_is_found_without_parsing_the_others() -> None:
    for number in range(5):
        suite(f"evals/{number}.yml", f"s{number}")
    for dataset in ("prices", "rates"):
        write(Path(f"evals/{dataset}.csv"), "test_id,query\n")
        write(Path(f"evals/{dataset}-notes.jsonl"), '{"context": "a", "questions": [')
    parsed: list[str] = []

    def read(path: Path, vocabulary: Vocabulary) -> Suite:
        parsed.append(path.stem)
        return read_suite(path, vocabulary)

    [named] = find_suites(["s3"], [Path("evals")], PlainVocabulary(), read)
    assert (named.name, parsed) == ("s3", ["3"])
    parsed.clear()
    # What is broken in one is told to those who ask for it, and costs nobody else anything.
    with pytest.raises(InvalidInput, match=r"rates\.csv"):
        find_suites(["rates"], [Path("evals")], PlainVocabulary(), read)
    assert parsed == ["rates"]
