import csv
import io
from pathlib import Path

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from harness.types import Usage
from tests.reports.sample_logs import (
    a_conversation,
    a_log,
    a_run,
    an_ordinary_log,
    must_call,
    written,
)


def rows(text: str) -> list[dict[str, str]]:
    assert text.startswith("\ufeff"), "Excel would not read it as UTF-8"
    return list(csv.DictReader(io.StringIO(text[1:], newline="")))


def test_every_trial_is_a_row(tmp_path: Path) -> None:
    found = rows(written(an_ordinary_log(tmp_path), "csv"))
    assert [(row["case"], row["trial"], row["status"]) for row in found[-3:]] == [
        ("often", "1", "passed"),
        ("often", "2", "failed"),
        ("often", "3", "passed"),
    ]
    assert found[1]["problem"] == "Expected call not found"
    assert found[1]["failed_checks"] == "must_call get_order"
    assert (found[1]["file"], found[1]["line"]) == ("evals/shop.yml", "12")


def test_unknown_is_empty_and_not_zero(tmp_path: Path) -> None:
    usage = Usage(input_tokens=None, output_tokens=0, cost_usd=None)
    (row,) = rows(written(a_log(tmp_path, [(a_run("a", usage=usage), None)]), "csv"))
    assert (row["tokens_in"], row["tokens_out"], row["cost_usd"]) == ("", "0", "")


def test_a_run_without_results_is_a_header_alone(tmp_path: Path) -> None:
    text = written(a_log(tmp_path, []), "csv")
    assert text.startswith("\ufeffsuite,case,model,variant,fault,attack,trial,status,")
    assert text.count("\r\n") == 1


@given(
    st.text(max_size=30),
    st.sampled_from(["", "=", "+", "-", "@", "\t", "\r", "\n=", " @", "\ufeff=", "\x00-"]),
)
@settings(
    max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None
)
def test_no_cell_begins_a_formula_or_breaks_a_line(tmp_path: Path, text: str, lead: str) -> None:
    (tmp_path / "log.jsonl").unlink(missing_ok=True)
    run = a_run(
        lead + text or "x",
        "failed",
        checks=(must_call("t", explanation=lead + text),),
        tags=(lead + text,),
    )
    ((row),) = rows(written(a_log(tmp_path, [(run, a_conversation())]), "csv"))
    for cell in row.values():
        assert not cell.startswith(("=", "+", "-", "@", "\t", "\r"))
        assert "\n" not in cell
