"""The public servers: their source, how they are started, and the temporary data they work on."""

from __future__ import annotations

import os
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path


@dataclass(frozen=True, slots=True, kw_only=True)
class Stranger:
    """A public server."""

    package: str
    """Requirement of npm (``@scope/name@1.2``) or pip (``name==1.2``)."""
    program: str
    """The executable that the package installs."""
    args: tuple[str, ...] = ()
    """``%FOLDER%`` stands for the folder of throw-away data."""
    env: Mapping[str, str] = field(default_factory=dict)
    also: str = ""
    """A requirement of pip that the package itself forgets."""
    held_out: bool = False
    """Whether the baseline was developed without a look at how it does here."""
    answers: bool = True
    """Whether its calls can succeed without network, browser or cluster."""

    @property
    def is_python(self) -> bool:
        """Whether pip installs it."""
        return "==" in self.package


_MCP = "@modelcontextprotocol/server"
STRANGERS = {
    "calculator": Stranger(package="mcp-server-calculator==0.2.1", program="mcp-server-calculator"),
    "filesystem": Stranger(
        package=f"{_MCP}-filesystem@2026.8.31",
        program="mcp-server-filesystem",
        args=("%FOLDER%/files",),
    ),
    "kubernetes": Stranger(
        package="mcp-server-kubernetes@4.1.7", program="mcp-server-kubernetes", answers=False
    ),
    "memory": Stranger(
        package=f"{_MCP}-memory@2026.8.31",
        program="mcp-server-memory",
        env={"MEMORY_FILE_PATH": "%FOLDER%/graph.jsonl"},
    ),
    "sequential_thinking": Stranger(
        package=f"{_MCP}-sequential-thinking@2026.8.31", program="mcp-server-sequential-thinking"
    ),
    "sqlite": Stranger(
        package="mcp-server-sqlite==2025.4.25",
        also="mcp<2",
        program="mcp-server-sqlite",
        args=("--db-path", "%FOLDER%/shop.db"),
    ),
    "time": Stranger(
        package="mcp-server-time==2026.10.19",
        program="mcp-server-time",
        args=("--local-timezone", "Etc/UTC"),
    ),
    "everything": Stranger(
        package=f"{_MCP}-everything@2026.8.31", program="mcp-server-everything", held_out=True
    ),
    "fetch": Stranger(
        package="mcp-server-fetch==2026.10.24",
        program="mcp-server-fetch",
        args=("--allow-private-ips",),
        held_out=True,
    ),
    "git": Stranger(
        package="mcp-server-git==2026.10.19",
        program="mcp-server-git",
        args=("-r", "%FOLDER%/repo"),
        held_out=True,
    ),
    "github": Stranger(
        package=f"{_MCP}-github@2025.4.8",
        program="mcp-server-github",
        env={"GITHUB_PERSONAL_ACCESS_TOKEN": "none"},
        held_out=True,
        answers=False,
    ),
    "motherduck": Stranger(
        package="mcp-server-motherduck==1.1.0",
        program="mcp-server-motherduck",
        args=("--db-path", ":memory:", "--read-write", "--init-sql", "%FOLDER%/shop.sql"),
        held_out=True,
    ),
    "notion": Stranger(
        package="@notionhq/notion-mcp-server@2.5.2",
        program="notion-mcp-server",
        env={"NOTION_TOKEN": "none"},
        held_out=True,
        answers=False,
    ),
    "playwright": Stranger(
        package="@playwright/mcp@0.0.83",
        program="playwright-mcp",
        args=("--headless", "--isolated", "--executable-path", "/nonexistent"),
        held_out=True,
        answers=False,
    ),
}
"""Those whose questions the baseline was developed on first."""


def installed(name: str, home: Path) -> Path:
    """Return the program of a server, installed below ``home`` if it is not there yet."""
    stranger = STRANGERS[name]
    own = home / name
    program = own / ("bin" if stranger.is_python else "node_modules/.bin") / stranger.program
    if program.exists():
        return program
    if stranger.is_python:
        wanted = [stranger.package, *([stranger.also] if stranger.also else [])]
        subprocess.run([sys.executable, "-m", "venv", own], check=True)
        subprocess.run([own / "bin/pip", "install", "--quiet", *wanted], check=True)
    else:
        own.mkdir(parents=True, exist_ok=True)
        quiet = ["--no-audit", "--no-fund", "--loglevel=error"]
        subprocess.run(
            [shutil.which("npm") or "npm", "install", "--prefix", own, *quiet, stranger.package],
            check=True,
        )
    return program


def entry(name: str, home: Path, folder: Path) -> dict[str, object]:
    """Return a server's entry for ``harness.yml``."""
    stranger = STRANGERS[name]
    return {
        "command": str(installed(name, home)),
        "args": [arg.replace("%FOLDER%", str(folder)) for arg in stranger.args],
        "env": {key: value.replace("%FOLDER%", str(folder)) for key, value in stranger.env.items()},
    }


def lay_out(folder: Path) -> None:
    """Write the throw-away data into an empty ``folder``."""
    _write(folder / "files/notes.txt", "Buy milk and stamps.\n")
    _write(folder / "files/reports/2025.txt", "A good year.\n")
    _write(folder / "files/reports/2026.txt", "January: 10\nFebruary: 12\nMarch: 9\n")
    _write(folder / "graph.jsonl", _GRAPH)
    _write(
        folder / "web/index.html",
        "<html><body><h1>Shop</h1><p>Our opening hours are 9 to 5.</p></body></html>",
    )
    _write(
        folder / "web/prices.html",
        "<html><body><h1>Prices</h1><p>A cup of coffee is 3 euros.</p></body></html>",
    )
    _write(folder / "shop.sql", _PRODUCTS)
    with sqlite3.connect(folder / "shop.db") as database:
        database.executescript(_CUSTOMERS)
    _repository(folder / "repo")


_GRAPH = (
    '{"type":"entity","name":"Grace Hopper","entityType":"person","observations":["was a rear '
    'admiral"]}\n'
    '{"type":"entity","name":"COBOL","entityType":"language","observations":["was designed in '
    '1959"]}\n'
    '{"type":"relation","from":"Grace Hopper","to":"COBOL","relationType":"inspired"}\n'
)
_PRODUCTS = (
    "ATTACH ':memory:' AS shop; USE shop; CREATE TABLE products (name VARCHAR, price INTEGER);"
    "INSERT INTO products VALUES ('Lamp', 20), ('Table', 150), ('Sofa', 900);"
)
_CUSTOMERS = (
    "CREATE TABLE customers (id INTEGER, name TEXT, city TEXT); CREATE TABLE orders (id INTEGER, "
    "customer_id INTEGER);INSERT INTO customers VALUES (1, 'Maria Keller', 'Berlin'), (2, 'Jo "
    "Park', 'Seoul');INSERT INTO orders VALUES (1, 1), (2, 1), (3, 2);"
)


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def _repository(folder: Path) -> None:
    """Make a repository of two commits with a branch ``drafts`` and a change that is not staged."""
    who = {
        f"GIT_{role}_{key}": value
        for role in ("AUTHOR", "COMMITTER")
        for key, value in _SOMEBODY.items()
    }

    def git(*args: str) -> None:
        subprocess.run(
            [shutil.which("git") or "git", "-C", folder, *args],
            check=True,
            capture_output=True,
            env={**os.environ, **who},
        )

    _write(folder / "README.md", "A shop.\n")
    git("init", "--initial-branch=main")
    git("add", ".")
    git("commit", "-m", "First step")
    _write(folder / "README.md", "A shop for lamps.\n")
    git("commit", "-am", "Second step")
    git("branch", "drafts")
    _write(folder / "README.md", "A shop for lamps, unfinished.\n")


_SOMEBODY = {"NAME": "Somebody", "EMAIL": "somebody@example.com", "DATE": "2026-01-02T03:04:05Z"}
