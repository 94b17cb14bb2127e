"""`make evals` installs what a run needs, `make test` adds to it, and neither undoes the other."""

from __future__ import annotations

import os
import re
import subprocess
import tomllib
from importlib.metadata import requires
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.packaging.conftest import ROOT

EVALS, ALL = "requirements-evals.lock", "requirements.lock"


def pins(lock: str) -> set[str]:
    """Return the packages of a lock file with their versions; markers vary by who needs them."""
    lines = (ROOT / lock).read_text("utf-8").splitlines()
    return {line.split()[0] for line in lines if re.match(r"[a-z0-9]", line)}


def steps(tmp_path: Path, *targets: str, tools: str = "", ready: str = "") -> str:
    """Return what make would do in an environment that has the stamp ``ready``, with ``tools``."""
    programs = tmp_path / "bin"
    programs.mkdir()
    for tool in tools.split():
        (programs / tool).write_text("#!/bin/sh\n")
        (programs / tool).chmod(0o755)
    venv = tmp_path / "venv"
    if ready:
        venv.mkdir()
        (venv / ready).touch()
    result = subprocess.run(
        ["/usr/bin/make", "--dry-run", f"VENV={venv}", *targets],
        cwd=ROOT,
        env={"PATH": f"{programs}{os.pathsep}/usr/bin:/bin"},
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    return result.stdout


def test_a_first_run_installs_what_a_run_needs_and_no_more(tmp_path: Path) -> None:
    done = steps(tmp_path, "evals")
    assert re.findall(r"-r (\S+)", done) == [EVALS]
    assert "--require-hashes" in done
    assert "uv " not in done


def test_uv_installs_where_it_is_there_and_pip_where_it_fails(tmp_path: Path) -> None:
    done = steps(tmp_path, "evals", tools="uv")
    first, _, otherwise = done.partition("||")
    assert "uv pip install" in first
    assert "-m pip" not in first
    assert "-m pip install" in otherwise
    assert re.findall(r"-r (\S+)", done) == [EVALS, EVALS]


@pytest.mark.parametrize("target", ["test", "proofs", "check", "bench"])
def test_development_adds_to_the_environment_of_a_run(tmp_path: Path, target: str) -> None:
    assert re.findall(r"-r (\S+)", steps(tmp_path, target, ready=".runs")) == [ALL]


def test_a_run_in_the_environment_of_development_installs_nothing(tmp_path: Path) -> None:
    assert " install " not in steps(tmp_path, "evals", ready=".ready")


def test_a_package_has_one_version_for_runs_and_development() -> None:
    assert pins(EVALS) < pins(ALL)
    assert len(pins(EVALS)) > 30


def list_base_packages() -> set[str]:
    """Return what an installation without extras installs here, beside harness itself."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    found: dict[tuple[str, str], list[str]] = {}
    waiting = [Requirement(line) for line in project["dependencies"]]
    while waiting:
        wanted = waiting.pop()
        for extra in ("", *wanted.extras):
            if (wanted.name, extra) in found:
                continue
            lines = requires(wanted.name) or []
            found[wanted.name, extra] = lines
            further = map(Requirement, lines)
            waiting += [
                one
                for one in further
                if one.marker is None or one.marker.evaluate({"extra": extra})
            ]
    return {canonicalize_name(name) for name, _ in found}


def test_an_installation_without_extras_stays_lean() -> None:
    base = list_base_packages()
    assert len(base) <= 43, sorted(base)
    assert base <= {pin.partition("==")[0] for pin in pins(EVALS)}
