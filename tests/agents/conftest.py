from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.agents.projects import Agents


@pytest.fixture
def project(tmp_path: Path) -> Agents:
    return Agents(tmp_path)


@pytest.fixture
def case() -> dict[str, Any]:
    return {"name": "echoes", "prompt": "Say something.", "assertions": {"must_call": ["echo"]}}
