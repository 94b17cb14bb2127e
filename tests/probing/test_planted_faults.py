"""Faults planted in copies of a server of ours, each found by the probe.

And none found where there is none.
"""

from __future__ import annotations

import shutil
from pathlib import Path

import anyio
import pytest

from harness.base.builtin import builtin_root
from harness.judging.checks import VOCABULARY
from harness.judging.exit_codes import exit_code
from harness.probing.callers import name_callers
from harness.probing.findings import read_probe
from harness.probing.prober import ProbePlan, run_probe
from harness.probing.report import ProbeReport
from harness.reports.build import build_report
from harness.suites.readers import read_suite
from harness.types import (
    FLAWS,
    IdentitySpec,
    ServerSpec,
    TransportSpec,
)
from tests.end_to_end.warm import warm_python
from tests.often import often

CASES = read_suite(builtin_root() / "evals" / "access_matrix.yml", VOCABULARY).cases
LIST = 'search_customers(city="Toronto", segment="enterprise")'
POLICIES = "data_governance/policies.yml"


def probed(
    folder: Path,
    *edits: tuple[str, str, str],
    only: tuple[str, ...] = (),
    destructive: bool = False,
    damaged: bool = False,
) -> ProbeReport:
    """Probe a copy of the server in which each (file, what stands there, what is to stand there)
    was changed.
    """
    shutil.copytree(builtin_root() / "servers", folder / "servers")
    for file, before, after in edits:
        path = folder / "servers" / file
        text = path.read_text(encoding="utf-8")
        assert text.count(before) == 1, f"{file} has changed: {before}"
        path.write_text(text.replace(before, after), encoding="utf-8")
    server = ServerSpec(
        name="copy",
        transport=TransportSpec(
            command=warm_python(), args=("-m", "servers.data_governance"), cwd=str(folder)
        ),
    )
    cases = tuple(case for case in CASES if not only or case.caller.identity in only)
    plan = ProbePlan(
        server=server,
        callers=name_callers(cases),
        cases=cases,
        destructive=destructive,
        damaged=damaged,
    )
    log, report, _ = anyio.run(run_probe, plan, folder / "runs")
    assert read_probe(log) == report, "the log, read again, says something else"
    assert exit_code(build_report(log)) == report.exit_code, "a view of the log says something else"
    return report


def found(report: ProbeReport) -> set[str]:
    """Return what is found without anybody saying what is right.

    The suite's own decisions are another matter.
    """
    return {str(finding.problem) for finding in report.findings} - {"unexpected"}


def words(report: ProbeReport) -> str:
    return "\n".join(finding.words for finding in report.findings)


@pytest.mark.slow
def test_on_the_correct_server_nothing_is_wrong_and_every_attribute_is_tried(
    tmp_path: Path,
) -> None:
    report = probed(tmp_path, damaged=True)
    assert (report.findings, report.exit_code) == ((), 0)
    assert report.callers == ("admin", "analyst", "user", "no_role", "anonymous")
    assert report.damaged > 20
    assert report.decisions[LIST]["analyst"].access == "filtered"
    assert report.decisions[LIST]["anonymous"].access == "denied"


@pytest.mark.slow
def test_an_emptied_policy_is_an_identity_that_nobody_observes(tmp_path: Path) -> None:
    text = (builtin_root() / "servers" / POLICIES).read_text(encoding="utf-8")
    rules = text[text.index("\ninput:") :]
    never = 'condition: "false"'
    empty = (
        f"\ninput: [{{tools: [delete_customer], action: hide, {never}, reason: none}}]"
        f"\noutput: [{{tools: [search_customers], action: mask_fields, fields: [email], "
        f"{never}}}]\n"
    )
    report = probed(tmp_path, (POLICIES, rules, empty))
    # Everybody gets the fields that the suite leaves out for some, by two tools.
    assert found(report) == {"unobserved", "other_road"}
    assert report.exit_code == 1


@pytest.mark.slow
@pytest.mark.parametrize(("kept", "forgotten"), often([("phone", "email"), ("email", "phone")]))
def test_a_filter_that_forgets_one_field_is_a_leak_of_that_field(
    tmp_path: Path, kept: str, forgotten: str
) -> None:
    masked = "action: mask_fields\n    fields: [{}]"
    policies = (POLICIES, masked.format("email, phone"), masked.format(kept))
    report = probed(tmp_path, policies, only=("admin", "analyst"))
    assert found(report) == {"leak"}
    assert forgotten in words(report)
    assert "analyst" in words(report)


@pytest.mark.slow
def test_a_rule_that_does_not_apply_when_it_fails_is_found_by_a_missing_attribute(
    tmp_path: Path,
) -> None:
    report = probed(
        tmp_path,
        ("common/policy.py", 'not a "no"\n            return False', "\n            return True"),
        damaged=True,
    )  # fmt: skip
    assert found(report) == {"fails_open", "leak"}
    assert "where role is missing for analyst" in words(report)
    assert "a caller without attributes" in words(report)


@pytest.mark.slow
def test_a_tool_that_is_hidden_and_works_all_the_same(tmp_path: Path) -> None:
    report = probed(
        tmp_path,
        ("common/governed.py", "            self._policies.check_tool(name, user)\n", ""),
        only=("admin", "user"),
        destructive=True,
    )
    assert "hidden_callable" in found(report)
    assert "delete_customer is not in the list of user, and works for them all the same" in words(
        report
    )


@pytest.mark.slow
def test_what_is_masked_in_the_text_and_not_in_the_structured_result(tmp_path: Path) -> None:
    report = probed(
        tmp_path,
        (
            "common/governed.py",
            "return _success(self._policies.govern(name, user, args, result.structured_content))",
            (
                "told = _success(self._policies.govern(name, user, args, "
                "result.structured_content))\n"
                "            return told.model_copy(update={'structured_content': "
                "result.structured_content})"
            ),
        ),
    )
    assert found(report) == {"leak"}
    assert "the structured result of call 1, search_customers" in words(report)


@pytest.mark.slow
def test_an_error_that_quotes_what_it_refuses(tmp_path: Path) -> None:
    report = probed(
        tmp_path,
        (
            "common/governed.py",
            ('        except Denied as denied:\n            return _error(f"Access denied: '
        '{denied}")'),
            ("        except Denied as denied:\n"
            "            told = await super().call_tool(name, arguments, context)\n"
            '            return _error(f"Access denied: {denied} (to {told.structured_content})")'),
        ),
    )  # fmt: skip
    assert "leak" in found(report)
    assert "error" in words(report).lower()


@pytest.mark.slow
def test_an_identity_that_is_remembered_from_the_caller_before(tmp_path: Path) -> None:
    report = probed(
        tmp_path,
        (
            "common/governed.py",
            "            _USER.set(identify(ctx.meta, self._environ))",
            (
                "            self._last = identify(ctx.meta, self._environ) or getattr(self, "
                "'_last', {})\n"
                "            _USER.set(self._last)"
            ),
        ),
    )
    assert found(report) & {"unstable", "leak"}
    assert "anonymous" in words(report)


@pytest.mark.slow
def test_a_token_for_somebody_else_that_is_let_in(tmp_path: Path) -> None:
    shutil.copytree(builtin_root() / "servers", tmp_path / "servers")
    path = tmp_path / "servers" / "common" / "tokens.py"
    text = path.read_text(encoding="utf-8")
    assert text.count("audience=self._trust.audience,") == 1
    path.write_text(
        text.replace("audience=self._trust.audience,", "audience=None,").replace(
            "options={", 'options={"verify_aud": False, '
        )
    )
    server = ServerSpec(
        name="copy",
        transport=TransportSpec(
            command=warm_python(),
            args=("-m", "servers.data_governance", "--transport", "http", "--port", "{port}"),
            cwd=str(tmp_path),
            kind="http",
        ),
        identity=IdentitySpec(via="bearer"),
    )
    plan = ProbePlan(server=server, callers=name_callers(CASES), cases=CASES, damaged=False)
    report = anyio.run(run_probe, plan, tmp_path / "runs").report
    assert found(report) == {"token_accepted"}
    assert "a token for another service of admin was accepted" in words(report)
    assert "expired" not in words(report)
    fates = {name.partition(": ")[2]: fate for name, fate in report.tokens.items()}
    audiences = {"wrong_audience", "other_audiences", "longer_audience"}
    let_in = {flaw.words for name, flaw in FLAWS.items() if name in audiences}
    assert {words for words, fate in fates.items() if fate == "accepted"} == let_in
    assert {words for words, fate in fates.items() if fate == "refused"} == {
        flaw.words for flaw in FLAWS.values()
    } - let_in
