"""The lines of a server's stderr that say why it is gone, the cause first."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.sessions.processes.stderr import MAX_LINES, extract_informative_lines

PYTHON = """\
INFO starting
Traceback (most recent call last):
  File "/srv/shop.py", line 3, in <module>
    import shop_database
ModuleNotFoundError: No module named 'shop_database'
"""
CHAINED = """\
Traceback (most recent call last):
  File "a.py", line 1, in f
    open("x")
    ~~~~^^^^^
FileNotFoundError: [Errno 2] No such file or directory: 'x'

The above exception was the direct cause of the following exception:

Traceback (most recent call last):
  File "a.py", line 9, in <module>
    f()
shop.config.ConfigError: x must be there
sys:1: ResourceWarning: unclosed file
"""
GROUP = """\
  + Exception Group Traceback (most recent call last):
  |   File "server.py", line 7, in <module>
  |     anyio.run(main)
  | ExceptionGroup: unhandled errors in a TaskGroup (1 sub-exception)
  +-+---------------- 1 ----------------
    | Traceback (most recent call last):
    |   File "server.py", line 5, in main
    |     raise PermissionError("the key is not readable")
    | PermissionError: the key is not readable
    +------------------------------------
"""
NODE = """\
node:internal/modules/cjs/loader:1228
  throw err;
  ^

Error: Cannot find module '/srv/dist/index.js'
    at Module._resolveFilename (node:internal/modules/cjs/loader:1225:15)
    at Module._load (node:internal/modules/cjs/loader:1051:27) {
  code: 'MODULE_NOT_FOUND',
  requireStack: []
}

Node.js v22.1.0
"""
JAVA = """\
Exception in thread "main" java.lang.IllegalStateException: could not start
\tat shop.Main.main(Main.java:5)
Caused by: java.net.BindException: Address already in use
\tat java.base/sun.nio.ch.Net.bind0(Native Method)
\t... 7 more
"""
GO = (
    "panic: no database\n\ngoroutine 1 [running]:\nmain.main()\n\t/srv/main.go:7 +0x1d\nexit "
    "status 2\n"
)
RUST = (
    "thread 'main' panicked at src/main.rs:4:5:\nDATABASE_URL is not set\nnote: run with "
    "`RUST_BACKTRACE=1` environment"
)
NPM = """\
npm error code E404
npm error 404 Not Found - GET https://registry.example/no-such-server
npm error A complete log of this run can be found in: /root/.npm/_logs/2026.log
"""
LOGGED = "INFO boot\nERROR: could not connect to db:5432\nINFO closing\nbye\n"
USAGE = "usage: shop [-h] --db DB\nshop: error: the following arguments are required: --db\n"


@pytest.mark.parametrize(
    ("tail", "told"),
    [
        (PYTHON, ["ModuleNotFoundError: No module named 'shop_database'", "INFO starting"]),
        (
            CHAINED,
            [
                "shop.config.ConfigError: x must be there",
                "FileNotFoundError: [Errno 2] No such file or directory: 'x'",
                "sys:1: ResourceWarning: unclosed file",
            ],
        ),
        (
            GROUP,
            [
                "PermissionError: the key is not readable",
                "ExceptionGroup: unhandled errors in a TaskGroup (1 sub-exception)",
            ],
        ),
        (
            NODE,
            [
                "Error: Cannot find module '/srv/dist/index.js'",
                "code: 'MODULE_NOT_FOUND',",
                "requireStack: []",
            ],
        ),
        (
            JAVA,
            [
                "Caused by: java.net.BindException: Address already in use",
                'Exception in thread "main" java.lang.IllegalStateException: could not start',
            ],
        ),
        (
            (
                'Traceback (most recent call last):\n  File "a.py", line 1\nshop.Closed: on '
                "Sundays\nbye error"
            ),
            ["shop.Closed: on Sundays", "bye error"],
        ),
        (GO, ["panic: no database", "main.main()"]),
        (RUST, ["thread 'main' panicked at src/main.rs:4:5:", "DATABASE_URL is not set"]),
        (
            NPM,
            [
                "npm error code E404",
                "npm error 404 Not Found - GET https://registry.example/no-such-server",
            ],
        ),
        (LOGGED, ["ERROR: could not connect to db:5432", "INFO boot", "INFO closing", "bye"]),
        (
            USAGE,
            ["shop: error: the following arguments are required: --db", "usage: shop [-h] --db DB"],
        ),
        ("one\ntwo\n\n\x1b[31mthree\x1b[0m\n   \n", ["three", "one", "two"]),
        ("\n \n^^^^\n", []),
        ("", []),
    ],
    ids=[
        "python", "chained", "group", "named", "node", "java", "go", "rust", "npm", "logged",
        "usage", "plain", "none", "empty",
    ],
)  # fmt: skip
def test_the_cause_comes_first_and_frames_not_at_all(tail: str, told: list[str]) -> None:
    assert extract_informative_lines(tail) == told


def test_no_more_than_the_last_lines_are_told() -> None:
    assert extract_informative_lines("\n".join(f"line {n}" for n in range(20))) == [
        "line 19",
        *(f"line {n}" for n in range(15, 19)),
    ]


def test_what_this_python_writes_of_an_error_is_read(tmp_path: Path) -> None:
    script = tmp_path / "server.py"
    script.write_text(
        "def f():\n    return {}['key'] + (\n        1)\ntry:\n    f()\nexcept KeyError as e:\n    "
        "int('x')\n"
    )
    done = subprocess.run(
        [sys.executable, str(script)], capture_output=True, text=True, check=False
    )
    assert extract_informative_lines(done.stderr) == [
        "ValueError: invalid literal for int() with base 10: 'x'",
        "KeyError: 'key'",
    ]


@given(st.text(alphabet=st.sampled_from("ab:|+ \n\t^Errof'\"File at()"), max_size=200))
def test_any_text_gives_few_lines_each_of_which_stands_in_it(tail: str) -> None:
    told = extract_informative_lines(tail)
    assert len(told) <= MAX_LINES
    assert all(line and line in tail for line in told)
