from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.base.documents.rows import MAX_BYTES, Table, read_table
from harness.base.errors import InvalidInput

COLUMNS = ("id", "query", "args")


def read(folder: Path, content: str | bytes) -> Table:
    path = folder / "table.csv"
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return read_table(path, required=COLUMNS, optional=("note",))


def told(folder: Path, content: str | bytes) -> list[str]:
    """Return what is wrong, in the error or in the table: ``line: message | advice``."""
    try:
        problems = read(folder, content).problems
    except InvalidInput as error:
        problems = error.problems
    return [f"{problem.at.line}: {problem.message} | {problem.meant}" for problem in problems]


def test_a_row_knows_the_line_on_which_it_begins(tmp_path: Path) -> None:
    table = read(tmp_path, 'id,query,args\n1,"two\nlines",{}\n\n2,"a\r\nb",{}\r\n3,c,"{""x"":1}"\n')
    assert [row.line for row in table.rows] == [2, 5, 7]
    assert [row.cells["query"] for row in table.rows] == ["two\nlines", "a\r\nb", "c"]
    assert table.rows[2].cells["args"] == '{"x":1}'
    assert str(table.locate(7)).endswith("table.csv:7")


def test_a_byte_order_mark_any_order_of_columns_and_blank_rows_are_fine(tmp_path: Path) -> None:
    table = read(tmp_path, b"\xef\xbb\xbfquery,note,args,id\nq,n,{},1\n,,,\n \n")
    assert [dict(row.cells) for row in table.rows] == [
        {"query": "q", "note": "n", "args": "{}", "id": "1"}
    ]


def test_carriage_returns_alone_end_lines_too(tmp_path: Path) -> None:
    assert [row.line for row in read(tmp_path, "id,query,args\r1,q,{}\r2,q,{}\r").rows] == [2, 3]


@pytest.mark.parametrize(
    ("content", "line", "words"),
    [
        ("", 1, ("the file is empty", "id,query,args")),
        ("id,querry,args\n", 1, ("no column 'querry'", "'query'")),
        ("id,Query,args\n", 1, ("no column 'Query'", "'query'")),
        (
            "id,query,args,colour\n",
            1,
            ("no column 'colour'", "The columns are id, query, args, note"),
        ),
        ("id,query\n", 1, ("the column 'args' is missing", "id,query,args")),
        ("id,query,args,id\n", 1, ("'id' is given twice",)),
        ("id;query;args\n1;q;{}\n", 1, ("Separate the columns by commas",)),
        ("id,query,args\n1,q\n", 2, ("2 columns, the header has 3",)),
        (
            "id,query,args\n1,q,{}\n2,Compare A, B and C,{}\n",
            3,
            ("4 columns", "quotes around a cell that has commas"),
        ),
        ("id,query,args\n1,“a, b”,{}\n", 2, ("4 columns", "straight quotes")),
        ("id,query,args,,\n1,a,{},,,x\n", 2, ("6 columns, the header has 3",)),
        ('id,query,args\n1, "a, b",{}\n', 2, ("no space between a comma and an opening quote",)),
        ('id,query,args\n1,q,"{"x":1}"\n', 2, ("goes on after its closing quote", '""ticker""')),
        (
            'id,query,args\n1,q,"{\\"x\\":1}"\n',
            2,
            ("goes on after its closing quote", '""ticker""'),
        ),
        ('id,query,args\n1,q,{}\n2,"open,{}\n3,q,{}\n', 3, ("never closed",)),
        (b"id,query,args\n1,q,{}\n2,caf\xe9,{}\n", 3, ("not UTF-8", "CSV UTF-8")),
        (b"id,query,args\r1,q\0,{}\r", 2, ("NUL",)),
        ("id,query,args\n1," + "x" * 200_000 + ",{}\n", 2, ("131,072 characters",)),
    ],
)
def test_every_mistake_is_told_with_its_line(
    tmp_path: Path, content: str | bytes, line: int, words: tuple[str, ...]
) -> None:
    first = told(tmp_path, content)[0]
    assert first.startswith(f"{line}: "), first
    for word in words:
        assert word in first


def test_a_file_that_is_too_large_or_not_there_is_told_so(tmp_path: Path) -> None:
    assert "larger than 5 MB" in told(tmp_path, b"x" * (MAX_BYTES + 1))[0]
    with pytest.raises(InvalidInput, match="cannot be read"):
        read_table(tmp_path / "nowhere.csv", required=COLUMNS)
    with pytest.raises(InvalidInput, match="cannot be read"):
        read_table(tmp_path, required=COLUMNS)


@given(
    rows=st.lists(
        st.lists(
            st.text(st.characters(codec="utf-8", exclude_characters="\0")), min_size=3, max_size=3
        )
    )
)
def test_whatever_the_csv_module_writes_is_read_again(
    rows: list[list[str]], tmp_path_factory: pytest.TempPathFactory
) -> None:
    import csv
    import io

    stream = io.StringIO(newline="")
    csv.writer(stream, quoting=csv.QUOTE_ALL).writerows([COLUMNS, *rows])
    table = read(tmp_path_factory.getbasetemp(), stream.getvalue())
    assert [list(row.cells.values()) for row in table.rows] == [
        row for row in rows if any(map(str.strip, row))
    ]
    assert not table.problems


@given(
    content=st.binary(max_size=60)
    | st.text(alphabet='id,query,args\n\r"{}[]1 ;\t\ufeff', max_size=60).map(str.encode)
)
def test_any_bytes_are_a_table_or_invalid(
    content: bytes, tmp_path_factory: pytest.TempPathFactory
) -> None:
    for line in told(tmp_path_factory.getbasetemp(), content):
        assert line
    told(tmp_path_factory.getbasetemp(), b"id,query,args\n" + content)
