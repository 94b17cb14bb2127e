from pathlib import Path

import pytest

from tests.end_to_end.harness_process import Project


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project(tmp_path)
