from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from harness.base.errors import HarnessError
from harness.cli.commands.convert import command
from tests.suites.test_csv_dataset import SAMPLE


def test_it_says_what_it_wrote(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("prices.csv").write_text(SAMPLE)
    result = CliRunner().invoke(command, ["prices.csv", "prices.yml"])
    assert (result.exit_code, result.output) == (0, "prices.yml: 2 tests\n")
    again = CliRunner().invoke(command, ["prices.csv", "prices.yml"])
    assert isinstance(again.exception, HarnessError)
    assert "prices.yml exists" in str(again.exception)
    assert CliRunner().invoke(command, ["prices.csv", "prices.yml", "--force"]).exit_code == 0
