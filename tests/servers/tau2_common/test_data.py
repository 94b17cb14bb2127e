import gzip
import json
from pathlib import Path

import pytest

from harness.base.builtin import builtin_server
from harness.base.fetching.cache import cache_root
from servers.common.errors import CannotStart
from servers.tau2_common.data import default_folder, read_data

FILES = {"db.json": {"users": {}}, "tools.json": []}


@pytest.mark.parametrize(
    "environ", [{"HARNESS_CACHE": "/c"}, {"XDG_CACHE_HOME": "/x"}, {"XDG_CACHE_HOME": "x"}, {}]
)
def test_a_server_looks_where_the_fetched_data_are(environ: dict[str, str]) -> None:
    assert default_folder("retail", environ) == cache_root(environ) / "tau2" / "retail"


@pytest.mark.parametrize("packed", [False, True])
def test_a_database_may_be_packed_and_a_policy_may_be_missing(
    tmp_path: Path, *, packed: bool
) -> None:
    for name, value in FILES.items():
        content = json.dumps(value).encode()
        if packed:
            (tmp_path / f"{name}.gz").write_bytes(gzip.compress(content))
        else:
            (tmp_path / name).write_bytes(content)
    data = read_data(tmp_path)
    assert (data.database, data.tools, data.policy) == ({"users": {}}, (), None)


@pytest.mark.parametrize("missing", FILES)
def test_what_is_missing_is_named_with_the_command_that_fetches_it(
    tmp_path: Path, missing: str
) -> None:
    for name in FILES.keys() - {missing}:
        (tmp_path / name).write_text(json.dumps(FILES[name]))
    with pytest.raises(CannotStart, match=f"there is no {missing} in .*harness fetch tau2"):
        read_data(tmp_path)


def test_a_damaged_file_is_named(tmp_path: Path) -> None:
    (tmp_path / "db.json.gz").write_bytes(b"no archive")
    with pytest.raises(CannotStart, match=r"db\.json\.gz cannot be read"):
        read_data(tmp_path)


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("db.json", b"[]", "db.json in .* is no database"),
        ("db.json", b'{"users": []}', "db.json in .* is no database"),
        ("tools.json", b"{}", "tools.json in .* is no list of tools"),
        (
            "tools.json",
            b'[{"name": "a", "description": "b"}]',
            "each with description, name, parameters",
        ),
        ("tools.json", b"[" * 100_000, "tools.json cannot be read"),
        ("policy.md", b"\xff", "policy.md cannot be read"),
    ],
)
def test_a_file_of_another_kind_is_named(
    tmp_path: Path, name: str, content: bytes, said: str
) -> None:
    for known, value in FILES.items():
        (tmp_path / known).write_text(json.dumps(value))
    (tmp_path / name).write_bytes(content)
    with pytest.raises(CannotStart, match=said):
        read_data(tmp_path)


def test_a_built_in_server_of_fetched_data_is_told_where_they_are(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("HARNESS_CACHE", "/c")
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    assert builtin_server("airline").transport.env == {"HARNESS_CACHE": "/c"}
    assert builtin_server("hr").transport.env == {}
