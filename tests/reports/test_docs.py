import re
import struct
from pathlib import Path

from harness.reports.writers import WRITERS, map_suffixes

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "reports.md").read_text("utf-8")


def test_the_page_names_every_format_with_its_file_and_its_suffix() -> None:
    table = dict.fromkeys(WRITERS.list_names(), "")
    for name, file, suffix in re.findall(
        r"^\| `(\w+)` \| `([\w.]+)` \| (?:`(\.\w+)`)? ?\|", PAGE, re.MULTILINE
    ):
        assert WRITERS.get(name).file_name == file
        table[name] = suffix
    assert {suffix: name for name, suffix in table.items() if suffix} == map_suffixes()
    assert table.keys() == set(WRITERS.list_names())


def test_every_picture_is_there_and_small() -> None:
    pictures = re.findall(r"images/[\w-]+\.png", PAGE)
    assert len(set(pictures)) == 4
    for picture in pictures:
        data = (ROOT / "docs" / picture).read_bytes()
        width, height = struct.unpack(">II", data[16:24])
        assert data.startswith(b"\x89PNG")
        assert len(data) < 200_000
        assert width >= 360
        assert height >= 360
