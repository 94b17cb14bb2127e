"""Gates of a real server, sound and broken, judged by ``consent`` over each transport and era."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

import harness
from harness.types import TrialResult

SERVER = str(Path(__file__).with_name("gate_server.py"))
DELETE = {"tool": "delete_customer", "args": {"customer_id": "C2"}}
GATE = {**DELETE, "state": {"tool": "list_customers"}}
CONFIRMED = [{"tool": "delete_customer", "answer": "accept", "content": {"confirm": True}}]
UNTICKED = [{"answer": "accept", "content": {"confirm": False}}]
TRANSPORTS: dict[str, dict[str, Any]] = {
    "stdio": {},
    "http": {"transport": "http", "url": "http://127.0.0.1:{port}/mcp"},
    "sse": {"transport": "sse", "url": "http://127.0.0.1:{port}/sse"},
}


def case(name: str, elicit: Any, **more: Any) -> dict[str, Any]:
    more.setdefault("assertions", {"consent": GATE})
    return {
        "name": name,
        "prompt": "Please delete customer C2.",
        **({} if elicit is None else {"elicit": elicit}),
        **more,
    }


def judged(
    folder: Path,
    cases: list[dict[str, Any]],
    gate: str = "sound",
    *,
    over: str = "stdio",
    protocol: str = "auto",
) -> dict[str, TrialResult]:
    """Return case → its result in JSON."""
    env = {"GATE": gate, **({} if over == "stdio" else {"PORT": "{port}", "OVER": over})}
    server = {
        "command": sys.executable,
        "args": [SERVER],
        "env": env,
        "protocol": protocol,
        "call_timeout": 5,
        **TRANSPORTS[over],
    }
    suite = {"suite": "gates", "server": server, "isolation": "case", "tests": cases}
    path = folder / "gates.yml"
    path.write_text(yaml.safe_dump(suite, sort_keys=False))
    return {each.case.name: each for each in harness.run(str(path), model="lexical").results}


@pytest.fixture(autouse=True)
def _in_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)


SOUND = [
    case("accepted", CONFIRMED),
    case("declined", "decline"),
    case("cancelled", "cancel"),
    case("cannot be asked", None),
    case("unanswered", []),
    case("unticked", UNTICKED, assertions={"consent": {**GATE, "effect": "none"}}),
    case(
        "not allowed",
        CONFIRMED,
        user_context={"role": "guest"},
        assertions={"consent": {**GATE, "effect": "none"}},
    ),
]


@pytest.mark.parametrize(
    ("over", "protocol"),
    [
        ("stdio", "auto"),
        pytest.param("stdio", "legacy", marks=pytest.mark.slow),
        pytest.param("http", "auto", marks=pytest.mark.slow),
        pytest.param("http", "legacy", marks=pytest.mark.slow),
        pytest.param("sse", "legacy", marks=pytest.mark.slow),
    ],
)
@pytest.mark.slow
def test_a_sound_gate_keeps_consent_whatever_the_user_answers(
    tmp_path: Path, over: str, protocol: str
) -> None:
    found = judged(tmp_path, SOUND, over=over, protocol=protocol)
    wrong = {
        name: (result.error, [check.explanation for check in result.checks])
        for name, result in found.items()
        if result.status != "passed"
    }
    assert wrong == {}


BROKEN = {
    "no_gate": ("accepted", "delete_customer asked nothing"),
    "asks_after": ("declined", "the state is not as it was before, after decline"),
    "ignores_decline": ("declined", "the state is not as it was before, after decline"),
    "ignores_cancel": ("cancelled", "the state is not as it was before, after cancel"),
    "no_capability": ("cannot be asked", "a client that cannot be asked was not refused"),
    "vague": ("accepted", "the question does not say 'C2'"),
    "secret": ("accepted", "the form asks for a secret: 'password'"),
    "bad_form": ("accepted", "the question cannot be shown: its field 'confirm' is no text"),
    "repeats": ("accepted", "it came after 10 others in the same call"),
    "anyone": ("not allowed", "the state is not as it was before, after accept"),
    "unticked": ("unticked", "the state is not as it was before, after accept"),
}
"""What is wrong with a gate → the case that finds it, and its words."""


@pytest.mark.slow
@pytest.mark.parametrize("protocol", ["auto", "legacy"])
@pytest.mark.parametrize("gate", BROKEN)
def test_each_broken_gate_is_found_and_named(tmp_path: Path, gate: str, protocol: str) -> None:
    name, words = BROKEN[gate]
    one = [each for each in SOUND if each["name"] == name]
    found = judged(tmp_path, one, gate, protocol=protocol)[name]
    assert found.status == "failed"
    [check] = found.checks
    assert check.explanation.startswith("Consent gate is broken: ")
    assert words in check.explanation
