"""What CI runs, run here: the scripts of an action or a job, with their inputs as environment."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Mapping
from pathlib import Path

import yaml

from tests.end_to_end.harness_process import plain_server

_EXPRESSION = re.compile(r"\$\{\{ *(?P<github>.*?) *\}\}|\$\[\[ *(?P<gitlab>.*?) *\]\]")


def make_project(folder: Path) -> None:
    """Write a project with a suite in which one case passes and one fails."""
    echo = "Echo 'hello'."
    tests = [
        {"name": "first", "tags": ["smoke"], "prompt": echo, "assertions": {"must_call": ["echo"]}},
        {"name": "second", "prompt": echo, "assertions": {"must_not_call": ["echo"]}},
    ]
    (folder / "evals").mkdir()
    (folder / "evals" / "shop.yml").write_text(
        yaml.safe_dump({"suite": "shop", "server": plain_server(), "tests": tests})
    )


def filled_in(text: str, values: Mapping[str, str]) -> str:
    """Return ``text`` with its expressions replaced; one that ``values`` lacks is a KeyError."""
    return _EXPRESSION.sub(lambda found: values[found["github"] or found["gitlab"]], text)


def has_expressions(script: str) -> bool:
    """Whether something is filled in where the shell would execute it."""
    return _EXPRESSION.search(script) is not None


def run_script(
    script: str, project: Path, commands: Path, env: Mapping[str, str], shell: str = "bash"
) -> subprocess.CompletedProcess[str]:
    """Run ``script`` in ``project`` as a runner does, with the programs in ``commands`` first."""
    file = project.parent / "step.sh"
    file.write_text(script)
    start = (
        ["bash", "--noprofile", "--norc", "-eo", "pipefail"] if shell == "bash" else ["sh", "-e"]
    )
    return subprocess.run(
        [*start, str(file)],
        cwd=project,
        env={
            "PATH": f"{commands}:{os.environ['PATH']}",
            "HOME": str(project),
            "LANG": "C.UTF-8",
            "CI": "true",
            "PIP_NO_INDEX": "1",
            "PIP_NO_BUILD_ISOLATION": "0",  # which turns isolation off
            **env,
        },
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
