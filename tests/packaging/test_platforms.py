"""Windows is refused in words, before anything is imported that Windows does not have.

What Python itself is missing there is taken away, and `sys.platform` is changed, in a process of
its own. What Python, click and pytest do on Windows is theirs: they are imported before.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from harness.base.platforms import REFUSAL
from harness.judging.exit_codes import EXIT_INVALID

ON_WINDOWS = """
import asyncio, pdb, sys, click, pytest, rich
for missing in ("fcntl", "grp", "pty", "pwd", "resource", "termios", "tty"):
    sys.modules[missing] = None
sys.platform = "win32"
"""


def on_windows(script: str, folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", ON_WINDOWS + script],
        cwd=folder,
        env={"PATH": "/usr/bin:/bin", "HOME": str(folder), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},
        check=False,
        capture_output=True,
        text=True,
        timeout=60,
    )


def command(arguments: str) -> str:
    return f"sys.argv = ['harness', *{arguments.split()!r}]\nfrom harness.entry import main; main()"


def test_the_command_says_that_it_does_not_run_on_windows(tmp_path: Path) -> None:
    done = on_windows(command("evals data_governance"), tmp_path)
    assert (done.returncode, done.stdout) == (EXIT_INVALID, "")
    assert done.stderr == f"Error: {REFUSAL}\n"


def test_a_program_gets_the_refusal_as_json(tmp_path: Path) -> None:
    done = on_windows(command("evals data_governance --json-output"), tmp_path)
    assert done.returncode == EXIT_INVALID
    assert json.loads(done.stdout) == {"status": "error", "error": REFUSAL}


def test_the_python_api_is_an_import_error_with_the_same_words(tmp_path: Path) -> None:
    script = (
        "import harness\nprint(harness.__version__)\n"
        "try: from harness import run\n"
        "except ImportError as error: print(error)"
    )
    done = on_windows(script, tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.endswith(f"\n{REFUSAL}\n")


@pytest.mark.slow
def test_pytest_refuses_a_suite_and_runs_everything_else(tmp_path: Path) -> None:
    (tmp_path / "test_mine.py").write_text("def test_it(): pass\n")
    (tmp_path / "shop.yml").write_text("suite: shop\ntests:\n- {name: one, prompt: Hello?}\n")
    ours, suite = (on_windows(pytest_on(name), tmp_path) for name in ("test_mine.py", "shop.yml"))
    assert (ours.returncode, "1 passed" in ours.stdout) == (pytest.ExitCode.OK, True), ours.stdout
    assert suite.returncode == pytest.ExitCode.INTERRUPTED
    assert f"\n{REFUSAL}\n" in suite.stdout
    assert "Traceback" not in suite.stdout + suite.stderr


def pytest_on(name: str) -> str:
    plugin = "-p harness.pytest_plugin -p no:cacheprovider --capture=no"
    return f"sys.exit(pytest.main({[*plugin.split(), name]!r}))"
