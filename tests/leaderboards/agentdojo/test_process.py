"""The judge that dies, is late or fails: each says so, and the next question has a new process."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from harness.base import HarnessError
from harness.leaderboards.agentdojo.process import OfficialProcess

QUESTION = {"version": "v1", "suite": "banking"}
BROKEN = {
    "it ends": ("import os; os._exit(3)", "did not answer within 60 s, or ended"),
    "it is late": ("import time; time.sleep(600)", "did not answer within 1 s, or ended"),
    "it fails": ("raise OSError('no disk')", "the official code failed: OSError: no disk"),
    "it has no such version": ("_SUITES = {}", "there is no version 'v1'"),
}


def write_package(folder: Path, code: str) -> Path:
    """Write a package that does ``code`` as soon as a suite is wanted."""
    parts = {
        "yaml.py": "",
        "agentdojo/__init__.py": "",
        "agentdojo/agent_pipeline/llms/google_llm.py": "EMPTY_FUNCTION_NAME = ''",
        "agentdojo/task_suite/__init__.py": "",
        "agentdojo/task_suite/load_suites.py": code,
    }
    for name, text in parts.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
    return folder


@pytest.mark.parametrize(("code", "words"), BROKEN.values(), ids=list(BROKEN))
def test_a_judge_without_an_answer_is_an_error_in_words(
    tmp_path: Path, code: str, words: str
) -> None:
    packages = write_package(tmp_path, code)
    with OfficialProcess(packages, answer_s=1 if "sleep" in code else 60) as official:
        for _ in range(2 if "exit" in code else 1):
            with pytest.raises(HarnessError, match=re.escape(words)):
                official.ask("judge", QUESTION)


def test_a_folder_without_the_package_is_an_error_in_words(tmp_path: Path) -> None:
    with OfficialProcess(tmp_path) as official, pytest.raises(HarnessError, match="or ended"):
        official.ask("contents", {})
