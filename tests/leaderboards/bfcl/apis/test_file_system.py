from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.leaderboards.bfcl.apis.common import Api, get_public_state
from tests.leaderboards.bfcl.apis.scenes import an_api, text_of, tree


def a_disk(**contents: Any) -> Api:
    return an_api("GorillaFileSystem", root=tree(**contents))


def listed(disk: Api) -> list[str]:
    found: list[str] = json.loads(text_of(disk, "ls", a=True))["current_directory_content"]
    return found


def test_one_starts_at_the_root_and_goes_one_level_at_a_time() -> None:
    disk = a_disk(docs={"old": {}})
    assert text_of(disk, "pwd") == '{"current_working_directory": "/home"}'
    assert text_of(disk, "cd", folder="docs/old") == (
        '{"error": "cd: docs/old: Unsupported path. Only one folder level at a time is supported."}'
    )
    assert text_of(disk, "cd", folder="docs/") == '{"current_working_directory": "docs"}'
    assert text_of(disk, "cd", folder="old") == '{"current_working_directory": "old"}'
    assert text_of(disk, "pwd") == '{"current_working_directory": "/home/docs/old"}'
    assert text_of(disk, "cd", folder="..") == "{}"
    assert text_of(disk, "cd", folder="/") == '{"current_working_directory": "home"}'
    assert text_of(disk, "cd", folder=".") == '{"current_working_directory": "home"}'


def test_there_is_nothing_above_the_root() -> None:
    assert (
        text_of(a_disk(), "cd", folder="..")
        == '{"error": "Current directory is already the root. Cannot go back."}'
    )


def test_a_file_is_no_place_to_go_to() -> None:
    assert (
        text_of(a_disk(note="x"), "cd", folder="note")
        == '{"error": "cd: \'note\': No such file or directory"}'
    )


def test_without_a_root_the_tree_is_empty() -> None:
    disk = an_api("GorillaFileSystem")
    assert text_of(disk, "pwd") == '{"current_working_directory": "//"}'
    assert listed(disk) == []


def test_hidden_entries_are_listed_on_request_only() -> None:
    disk = a_disk(**{".secret": "", "open": ""})
    assert text_of(disk, "ls") == '{"current_directory_content": ["open"]}'
    assert listed(disk) == [".secret", "open"]


def test_creating_answers_with_nothing_and_never_twice() -> None:
    disk = a_disk()
    assert [text_of(disk, "mkdir", dir_name="a"), text_of(disk, "touch", file_name="b")] == [
        "None",
        "None",
    ]
    assert (
        text_of(disk, "mkdir", dir_name="b")
        == '{"error": "mkdir: cannot create directory \'b\': File exists"}'
    )
    assert (
        text_of(disk, "touch", file_name="a")
        == '{"error": "touch: cannot touch \'a\': File exists"}'
    )
    assert listed(disk) == ["a", "b"]


@pytest.mark.parametrize("character", '|/\\?%*:"><')
@pytest.mark.parametrize(
    ("tool", "argument"), [("mkdir", "dir_name"), ("touch", "file_name"), ("cat", "file_name")]
)
def test_some_characters_are_in_no_name(tool: str, argument: str, character: str) -> None:
    assert "Invalid character" in text_of(a_disk(), tool, **{argument: f"a{character}b"})
    assert "Invalid character" not in text_of(
        a_disk(), tool, **{argument: "A file-name_X.txt (1)!"}
    )


def test_echo_shows_or_overwrites_and_never_creates() -> None:
    disk = a_disk(note="old")
    assert text_of(disk, "echo", content="hi") == '{"terminal_output": "hi"}'
    assert text_of(disk, "echo", content="hi", file_name="") == '{"terminal_output": "hi"}'
    assert (
        text_of(disk, "echo", content="hi", file_name="new")
        == '{"error": "echo: cannot write to \'new\': No such file"}'
    )
    assert text_of(disk, "echo", content="new", file_name="note") == "None"
    assert text_of(disk, "cat", file_name="note") == '{"file_content": "new"}'


def test_a_directory_cannot_be_written_or_read() -> None:
    disk = a_disk(docs={})
    assert text_of(disk, "echo", content="hi", file_name="docs") == (
        "Error during execution: 'Directory' object has no attribute '_write'"
    )
    assert text_of(disk, "cat", file_name="docs") == '{"error": "cat: \'docs\': Is a directory"}'
    assert (
        text_of(disk, "sort", file_name="docs")
        == '{"error": "sort: docs: No such file or directory"}'
    )


def test_find_looks_everywhere_below_for_part_of_a_name() -> None:
    disk = a_disk(docs={"report": "", "deep": {"my_report": ""}}, other="")
    assert (
        text_of(disk, "find", name="report")
        == '{"matches": ["./docs/report", "./docs/deep/my_report"]}'
    )
    assert text_of(disk, "find", path="docs/deep/") == '{"matches": ["docs/deep/my_report"]}'
    assert text_of(disk, "find", path="/", name="other") == '{"matches": ["/other"]}'
    text_of(disk, "cd", folder="docs")
    assert text_of(disk, "find", path="/docs/deep") == '{"matches": ["/docs/deep/my_report"]}'
    assert text_of(disk, "find", path="./deep") == '{"matches": ["./deep/my_report"]}'
    assert (
        text_of(disk, "find", path="nowhere")
        == '{"error": "find: \'nowhere\': No such file or directory"}'
    )


@pytest.mark.parametrize(
    ("mode", "expected"),
    [("l", (2, "lines")), ("w", (3, "words")), ("c", (10, "characters"))],
)
def test_wc_counts_lines_words_or_characters(mode: str, expected: tuple[int, str]) -> None:
    count, unit = expected
    assert json.loads(text_of(a_disk(note="one two\ngo"), "wc", file_name="note", mode=mode)) == {
        "count": count,
        "type": unit,
    }


def test_wc_knows_three_modes() -> None:
    assert (
        text_of(a_disk(note=""), "wc", file_name="note", mode="x")
        == '{"error": "wc: invalid mode \'x\'"}'
    )


def test_reading_tools_take_a_file_apart_and_leave_it_alone() -> None:
    disk = a_disk(note="b\na\nb c", other="b\nx")
    before = repr(get_public_state(disk))
    assert text_of(disk, "sort", file_name="note") == '{"sorted_content": "a\\nb\\nb c"}'
    assert (
        text_of(disk, "grep", file_name="note", pattern="b") == '{"matching_lines": ["b", "b c"]}'
    )
    assert text_of(disk, "grep", file_name="note", pattern="b.") == '{"matching_lines": []}'
    assert text_of(disk, "tail", file_name="note", lines=1) == '{"last_lines": "b c"}'
    assert text_of(disk, "tail", file_name="note", lines=99) == '{"last_lines": "b\\na\\nb c"}'
    assert (
        text_of(disk, "diff", file_name1="note", file_name2="other")
        == '{"diff_lines": "- a\\n+ x"}'
    )
    assert repr(get_public_state(disk)) == before


def test_du_counts_bytes_of_everything_below() -> None:
    disk = a_disk(note="é", docs={"big": "x" * 2046})
    assert text_of(disk, "du") == '{"disk_usage": "2048 bytes"}'
    assert text_of(disk, "du", human_readable=True) == '{"disk_usage": "2.00 KB"}'


@pytest.mark.parametrize(
    ("tool", "arguments", "error"),
    [
        ("cat", {"file_name": "z"}, "cat: 'z': No such file or directory"),
        ("wc", {"file_name": "z"}, "wc: z: No such file or directory"),
        ("sort", {"file_name": "z"}, "sort: z: No such file or directory"),
        ("grep", {"file_name": "z", "pattern": ""}, "grep: z: No such file or directory"),
        ("tail", {"file_name": "z"}, "tail: z: No such file or directory"),
        (
            "diff",
            {"file_name1": "z", "file_name2": "note"},
            "diff: z or note: No such file or directory",
        ),
        (
            "diff",
            {"file_name1": "note", "file_name2": "docs"},
            "diff: note or docs: No such file or directory",
        ),
        ("rmdir", {"dir_name": "z"}, "rmdir: cannot remove 'z': No such file or directory"),
        (
            "echo",
            {"content": "x", "file_name": "a/b"},
            "echo: cannot write to 'a/b': Invalid character",
        ),
    ],
)
def test_each_tool_says_in_its_own_words_what_is_not_there(
    tool: str, arguments: dict[str, str], error: str
) -> None:
    assert json.loads(text_of(a_disk(note="", docs={}), tool, **arguments)) == {"error": error}


def test_the_tail_has_ten_lines_unless_asked_otherwise() -> None:
    disk = a_disk(note="\n".join(map(str, range(12))))
    assert json.loads(text_of(disk, "tail", file_name="note"))["last_lines"].split("\n")[0] == "2"


def test_something_is_moved_into_a_directory_or_to_a_new_name() -> None:
    disk = a_disk(note="x", docs={})
    assert (
        text_of(disk, "mv", source="note", destination="docs")
        == "{\"result\": \"'note' moved to 'docs/note'\"}"
    )
    assert listed(disk) == ["docs"]
    assert (
        text_of(disk, "mv", source="docs", destination="papers")
        == "{\"result\": \"'docs' moved to 'papers'\"}"
    )
    assert text_of(disk, "find") == '{"matches": ["./papers", "./papers/note"]}'


@pytest.mark.parametrize(
    ("tool", "verb"),
    [("mv", "move"), ("cp", "copy")],
)
def test_nothing_is_moved_or_copied_onto_a_file_by_a_path_or_out_of_nothing(
    tool: str, verb: str
) -> None:
    disk = a_disk(a="1", b="2")
    assert f"cannot {verb} 'a' to 'b': Not a directory" in text_of(
        disk, tool, source="a", destination="b"
    )
    assert "path not allowed in destination" in text_of(disk, tool, source="a", destination="x/y")
    assert f"cannot {verb} 'z': No such file" in text_of(disk, tool, source="z", destination="b")
    assert listed(disk) == ["a", "b"]


def test_a_taken_name_in_the_directory_is_refused_to_a_move_and_an_exception_to_a_copy() -> None:
    disk = a_disk(note="x", docs={"note": "y"})
    assert text_of(disk, "mv", source="note", destination="docs") == (
        "{\"error\": \"mv: cannot move 'note' to 'docs/note': File exists\"}"
    )
    assert text_of(disk, "cp", source="note", destination="docs") == (
        "Error during execution: File 'note' already exists in directory 'docs'."
    )
    boxes = a_disk(box={}, docs={"box": {}})
    assert text_of(boxes, "cp", source="box", destination="docs") == (
        "Error during execution: Directory 'box' already exists in directory 'docs'."
    )


def test_the_copy_of_a_file_is_its_own_and_that_of_a_directory_shares_its_files() -> None:
    disk = a_disk(note="x", docs={"paper": "x"})
    text_of(disk, "cp", source="note", destination="note2")
    text_of(disk, "echo", content="changed", file_name="note")
    assert text_of(disk, "cat", file_name="note2") == '{"file_content": "x"}'
    text_of(disk, "cp", source="docs", destination="docs2")
    text_of(disk, "cd", folder="docs")
    text_of(disk, "echo", content="changed", file_name="paper")
    text_of(disk, "touch", file_name="more")
    text_of(disk, "cd", folder="..")
    text_of(disk, "cd", folder="docs2")
    assert text_of(disk, "cat", file_name="paper") == '{"file_content": "changed"}'
    assert listed(disk) == ["paper"]


def test_from_below_a_moved_directory_one_gets_back_to_the_old_place() -> None:
    disk = a_disk(docs={"deep": {}}, box={})
    text_of(disk, "mv", source="docs", destination="box")
    for folder in ("box", "docs", "deep"):
        text_of(disk, "cd", folder=folder)
    assert text_of(disk, "pwd") == '{"current_working_directory": "/home/docs/deep"}'


def test_rm_removes_anything_and_rmdir_an_empty_directory() -> None:
    disk = a_disk(note="", full={"x": ""}, empty={})
    assert (
        text_of(disk, "rmdir", dir_name="note")
        == '{"error": "rmdir: cannot remove \'note\': Not a directory"}'
    )
    assert (
        text_of(disk, "rmdir", dir_name="full")
        == '{"error": "rmdir: cannot remove \'full\': Directory not empty"}'
    )
    assert text_of(disk, "rmdir", dir_name="empty") == '{"result": "\'empty\' removed"}'
    assert text_of(disk, "rm", file_name="full") == '{"result": "\'full\' removed"}'
    assert (
        text_of(disk, "rm", file_name="full")
        == '{"error": "rm: cannot remove \'full\': No such file or directory"}'
    )
    assert listed(disk) == ["note"]


def test_with_long_context_files_get_a_tail_and_innermost_directories_are_filled() -> None:
    root = tree(**{"short.txt": "a", "long.txt": "b"}, docs={})
    disk = an_api("GorillaFileSystem", long_context=True, root=root)
    assert text_of(disk, "cat", file_name="short.txt") == '{"file_content": "a"}'
    assert text_of(disk, "cat", file_name="long.txt") == '{"file_content": "b and so on"}'
    assert listed(disk) == ["short.txt", "long.txt", "docs"]
    text_of(disk, "cd", folder="docs")
    assert listed(disk) == ["filler1", "filler2"]


@pytest.mark.parametrize("tool", ["find", "du"])
def test_a_directory_that_was_copied_into_itself_has_no_end_and_no_crash(tool: str) -> None:
    disk = a_disk(box={})
    text_of(disk, "cp", source="box", destination="box")
    assert text_of(disk, tool).startswith(
        "Error during execution: maximum recursion depth exceeded"
    )
    assert repr(get_public_state(disk)["root"]) == "Directory('home', ['box'])"


@pytest.mark.parametrize("tool", ["find", "du"])
def test_a_tree_that_doubles_with_every_copy_is_walked_only_so_far(tool: str) -> None:
    disk = a_disk(box={"x": "1"})
    for number in range(60):
        text_of(disk, "cp", source="box", destination=f"n{number}")
        text_of(disk, "mv", source=f"n{number}", destination="box")
    assert text_of(disk, tool) == "Error during execution: there are more than 100000 entries"


NAMES = st.sampled_from(["a", "b", "c", ".", "..", "a/b", ""])
STEPS = st.one_of(
    st.tuples(
        st.sampled_from(["cd", "mkdir", "touch", "rm", "rmdir", "cat", "sort", "find"]), NAMES
    ),
    st.tuples(st.sampled_from(["mv", "cp", "echo", "grep", "diff"]), NAMES, NAMES),
    st.tuples(st.sampled_from(["pwd", "ls", "du"])),
)


@given(st.lists(STEPS, max_size=25))
def test_whatever_is_done_every_call_has_a_result_and_equal_deeds_lead_to_equal_states(
    steps: list[Any],
) -> None:
    one, other = a_disk(a={"b": "x"}, c="y"), a_disk(c="y", a={"b": "x"})
    for tool, *arguments in steps:
        text_of(one, tool, *arguments)
        text_of(other, tool, *arguments)
    assert get_public_state(one) == get_public_state(other)


def test_a_directory_that_was_moved_into_itself_as_dot_equals_another_such_and_no_other() -> None:
    disks = [a_disk(c="y"), a_disk(c="y"), a_disk(c="z"), a_disk(c="y", a={})]
    for disk in disks[:3]:
        assert text_of(disk, "mkdir", dir_name=".") == "None"
        assert (
            text_of(disk, "mv", source=".", destination="a") == "{\"result\": \"'.' moved to 'a'\"}"
        )
        assert text_of(disk, "find").startswith(
            "Error during execution: maximum recursion depth exceeded"
        )
        assert text_of(disk, "cd", folder="a") == '{"current_working_directory": "a"}'
        assert listed(disk) == ["c", "a"]
    one, twin, other, finite = (get_public_state(disk)["root"] for disk in disks)
    assert one == twin
    assert one not in (other, finite, "home")


def test_trees_that_double_with_every_copy_are_compared_without_delay() -> None:
    disks = [a_disk(box={"x": "1"}), a_disk(box={"x": "1"}), a_disk(box={"x": "2"})]
    for disk in disks:
        for number in range(60):
            text_of(disk, "cp", source="box", destination=f"n{number}")
            text_of(disk, "mv", source=f"n{number}", destination="box")
    one, twin, other = map(get_public_state, disks)
    assert one == twin
    assert one != other


def test_a_tree_of_any_depth_is_compared() -> None:
    one, twin, other = a_disk(), a_disk(), a_disk()
    for disk, name in ((one, "z"), (twin, "z"), (other, "y")):
        for _ in range(3_000):
            text_of(disk, "mkdir", dir_name="a")
            text_of(disk, "cd", folder="a")
        text_of(disk, "mkdir", dir_name=name)
    assert get_public_state(one) == get_public_state(twin)
    assert get_public_state(one) != get_public_state(other)
