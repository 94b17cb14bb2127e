"""``pip install .`` into an empty environment gives a working command with suites and servers."""

from __future__ import annotations

import subprocess
import sys
import venv
from pathlib import Path

import pytest

from tests.end_to_end.harness_process import Project, finish

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An environment that holds the built package, and borrows its dependencies from this one."""
    folder = tmp_path_factory.mktemp("installed")
    pip = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check"]
    build = [
        *pip,
        "wheel",
        "--no-deps",
        "--no-build-isolation",
        "--wheel-dir",
        str(folder),
        str(ROOT),
    ]
    subprocess.run(build, check=True, timeout=120, stdout=subprocess.DEVNULL)
    (wheel,) = folder.glob("*.whl")
    venv.create(folder / "env", with_pip=False)
    python = folder / "env" / "bin" / "python"
    site = next((folder / "env" / "lib").glob("python*/site-packages"))
    # The editable install of this checkout must not be what is found.
    ours = [path for path in map(Path, sys.path) if path.name == "site-packages"]
    (site / "borrowed.pth").write_text("\n".join(map(str, ours)))
    subprocess.run(
        [
            *pip,
            "--python",
            str(python),
            "install",
            "--no-deps",
            "--no-index",
            "--ignore-installed",
            str(wheel),
        ],
        check=True,
        timeout=120,
    )
    return folder / "env" / "bin" / "harness"


@pytest.mark.slow
def test_the_built_in_suite_runs_from_an_installed_copy(installed: Path, project: Project) -> None:
    process = subprocess.Popen(
        [installed, "evals", "data_governance", "-k", "viewing"],
        cwd=project.folder,
        env={"PATH": "/usr/bin:/bin", "HOME": str(project.folder)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    finished = finish(process)
    assert finished.code == 0, finished.stderr
    assert "1 planned: 1 passed" in finished.stdout
    assert "_builtin" in next(iter(project.log().header.suites.values()))["file"]
