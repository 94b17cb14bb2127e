"""An error in the user's code is reported with the user's own line."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.base.importing import users_frame


@pytest.mark.parametrize(
    "line",
    [
        "from harness.suites.in_python.values import parse_share; parse_share('much', repr)",
        "import harness; harness.run(trials=0)",
        "from harness.types import Case; Case(nonsense=1)",
    ],
)
def test_the_line_is_the_users_where_harness_raises_the_error(line: str, tmp_path: Path) -> None:
    file = tmp_path / "theirs.py"
    file.write_text(f"def call():\n    {line}\n", "utf-8")
    code: dict[str, object] = {}
    exec(compile(file.read_text("utf-8"), str(file), "exec"), code)
    with pytest.raises(Exception, match=r".") as caught:
        code["call"]()  # type: ignore[operator]
    frame = users_frame(caught.value)
    assert frame is not None
    assert (frame.filename, frame.lineno) == (str(file), 2)
