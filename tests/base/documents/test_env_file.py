"""A ``.env`` file is read as other programs read it; what it cannot mean is told by its line."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.base.documents.env_file import read_env_file
from harness.base.errors import InvalidInput


def read(folder: Path, text: str) -> dict[str, str]:
    path = folder / "shop.env"
    path.write_text(text, encoding="utf-8")
    return dict(read_env_file(path))


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("A=b # no value", "b"),
        ("export A = 'b # c'  # no value", "b # c"),
        ('A="one\\ntwo \\"three\\""', 'one\ntwo "three"'),
        ("\ufeffA=1\n\n# B=2\nA='2'", "2"),
        ("A=", ""),
        ("A=$HOME ${HOME}", "$HOME ${HOME}"),
        ('A="one\ntwo"', "one\ntwo"),
    ],
)
def test_a_value_is_what_other_programs_take_it_for(tmp_path: Path, text: str, value: str) -> None:
    assert read(tmp_path, text) == {"A": value}


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("A=1\n\n\nsecret\n", "shop.env:4: this line is not a variable."),
        ("A=1\r\n'a b'=secret\r\n", "shop.env:2: this line is not a variable."),
        ("=secret", "shop.env:1: this line is not a variable."),
        ("\n# x\nA='secret\n", "shop.env:3: the value of A has an open quote."),
        ("A='secret' more", "shop.env:1: the value of A has an open quote."),
    ],
)
def test_any_other_line_is_told_by_its_number_and_not_shown(
    tmp_path: Path, text: str, words: str
) -> None:
    with pytest.raises(InvalidInput) as caught:
        read(tmp_path, text)
    assert words in str(caught.value)
    assert "secret" not in str(caught.value)
