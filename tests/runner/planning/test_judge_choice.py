from __future__ import annotations

from pathlib import Path

import anyio
import pytest

from harness.base.errors import UsageError
from harness.judging.checks.judge.judge import JudgeModel
from harness.models.model import Model
from harness.runner.planning.model_choice import (
    JudgePanel,
    choose_judges,
    choose_players,
    sole_judge,
)
from harness.runner.planning.plan import Job, make_plan
from harness.runner.preflight.preflight import Preflight
from harness.runner.run_context import RunContext
from harness.runner.trial import TrialOutcome, run_trial
from harness.suites.config import Config, load_config
from harness.types import Case, Check, ModelSpec, Reply, ServerSpec, Suite
from tests.judging.checks.judges import verdict
from tests.support import MemoryPool, ScriptedModel, a_case, says

GRADED = Check(kind="graded", params={"expected": [], "keywords": [], "threshold": 0.7})
EXPECTED = Check(kind="expected_answer", params={"text": "Yes."})
BY_OTHER = Check(
    kind="answer_judge", params={"rubric": "r", "threshold": 0.7, "model": "openai:other"}
)
GROUP = Check(
    kind="any_of",
    params={},
    options=((Check(kind="expected_answer", params={"text": "x"}),),),
)
PLAIN = Check(kind="answer_contains", params={"text": "x"})


def a_suite(*checks: Check, judge_model: str | None = None) -> Suite:
    return Suite(
        name="s", cases=(Case(name="c", prompt="p", checks=checks),), judge_model=judge_model
    )


@pytest.fixture
def config(tmp_path: Path) -> Config:
    """Nothing configured, and a key in the environment."""
    return load_config(tmp_path, {"OPENAI_API_KEY": "test-key"})


def with_gpt_4o(folder: Path, key: str = "test-key") -> Config:
    text = f"mxcp: 1\nmodels:\n  models:\n    gpt-4o: {{type: openai, api_key: {key}}}\n"
    (folder / "harness.yml").write_text(text)
    return load_config(folder, {})


def names(bench: JudgePanel) -> list[str]:
    return [spec.name for spec in bench.models]


def test_without_a_check_that_asks_a_judge_none_is_chosen(config: Config) -> None:
    bench = choose_judges([a_suite(PLAIN, judge_model="no such model")], None, config)
    assert (names(bench), bench.default_of, bench.notes, bench.build_settings()) == ([], {}, (), {})


def test_a_key_in_the_environment_alone_pays_for_no_judge(config: Config) -> None:
    bench = choose_judges([a_suite(GRADED)], None, config)
    assert names(bench) == []
    assert "faithfulness is scored by keywords and grounding, not judged" in bench.notes[0]


@pytest.mark.parametrize("role", ["judge", "simulated user"])
def test_a_named_model_that_nothing_asks_is_told_and_has_to_exist(
    tmp_path: Path, role: str
) -> None:
    def choose(name: str) -> tuple[str, ...]:
        if role == "judge":
            return choose_judges([a_suite(PLAIN)], name, load_config(tmp_path, {})).notes
        return choose_players([a_suite(PLAIN)], {"s": []}, name, load_config(tmp_path, {})).notes

    # Its key is not needed, since it is not asked.
    (note,) = choose("gpt-4o")
    assert "gpt-4o: it is not asked" in note
    with pytest.raises(UsageError, match="nope"):
        choose("nope")


def test_checks_that_cannot_do_without_a_judge_are_announced(config: Config) -> None:
    (note,) = choose_judges([a_suite(EXPECTED, GROUP, GRADED)], None, config).notes
    assert note.startswith(
        "2 checks need a judge in s, and will end as errors: no judge is configured."
    )


def test_a_configured_gpt_4o_judges_where_nobody_names_another(tmp_path: Path) -> None:
    bench = choose_judges([a_suite(GRADED)], None, with_gpt_4o(tmp_path))
    assert bench.default_of == {"s": "gpt-4o"}
    assert bench.models[0].temperature == 0.0


def test_a_configured_gpt_4o_without_its_key_is_told_and_not_used(tmp_path: Path) -> None:
    bench = choose_judges([a_suite(GRADED)], None, with_gpt_4o(tmp_path, "${NO_SUCH_KEY}"))
    assert names(bench) == []
    assert "gpt-4o is configured but cannot be used" in bench.notes[0]
    assert "NO_SUCH_KEY" in bench.notes[0]


def test_the_command_line_comes_before_the_suite_and_the_suite_before_the_default(
    tmp_path: Path,
) -> None:
    config = with_gpt_4o(tmp_path)
    config = load_config(tmp_path, {"OPENAI_API_KEY": "test-key"})
    suite = a_suite(GRADED, judge_model="openai:suites")
    assert choose_judges([suite], None, config).default_of == {"s": "openai:suites"}
    assert choose_judges([suite], "openai:mine", config).default_of == {"s": "openai:mine"}
    assert choose_judges([suite], "none", config).default_of == {}


def test_a_judge_that_a_check_names_is_opened_beside_the_default(config: Config) -> None:
    bench = choose_judges([a_suite(GRADED, BY_OTHER)], "openai:mine", config)
    assert names(bench) == ["openai:other", "openai:mine"]
    settings = bench.build_settings()
    assert settings["judge"] == {"s": "openai:mine"}
    assert settings["judge_prompt_version"] == "1"
    assert "test-key" not in repr(settings)


@pytest.mark.parametrize("name", ["lexical", "replay:latest"])
def test_what_is_no_llm_cannot_judge(config: Config, name: str) -> None:
    with pytest.raises(UsageError, match="cannot judge: it is not an LLM"):
        choose_judges([a_suite(GRADED)], name, config)


def test_an_unknown_judge_or_one_without_its_key_is_refused_before_the_run(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no model named 'gpt4'"):
        choose_judges([a_suite(GRADED)], "gpt4", load_config(tmp_path, {}))
    with pytest.raises(UsageError, match="OPENAI_API_KEY"):
        choose_judges([a_suite(GRADED)], "gpt-4o", load_config(tmp_path, {}))


def test_a_judge_to_be_measured_has_to_be_named_or_configured(
    tmp_path: Path, config: Config
) -> None:
    assert sole_judge("openai:mine", config).name == "openai:mine"
    with pytest.raises(UsageError, match="--judge-model"):
        sole_judge(None, config)
    assert sole_judge(None, with_gpt_4o(tmp_path)).name == "gpt-4o"


# ── In a trial ───────────────────────────────────────────────────────────────────────────────


def a_job() -> Job:
    suite = Suite(name="s", cases=(a_case(checks=(GRADED,)),))
    model, server = ModelSpec(name="m", provider="openai", model_id="m"), ServerSpec(name="srv")
    plan = make_plan(
        [suite], models_of=lambda _: [model], server_of=lambda _: server, judge_of=lambda _: "j"
    )
    assert plan.jobs[0].judge == "j"
    return plan.jobs[0]


async def attempt(judging: Model, scope: anyio.CancelScope | None = None) -> TrialOutcome:
    job = a_job()
    context = RunContext(
        pool=MemoryPool(),
        models={"m": ScriptedModel(says("Yes."))},
        judges={"j": JudgeModel("j", judging)},
    )
    return await run_trial(job, context, Preflight.from_trial(job), scope or anyio.CancelScope())


def test_what_judging_took_is_kept_apart_with_every_verdict() -> None:
    run = anyio.run(attempt, ScriptedModel(says("no"), verdict(0.9, "Fine."))).line.run
    assert run.status == "passed"
    assert (run.usage.input_tokens, run.judge_usage.input_tokens) == (10, 20)
    (judgement,) = run.judgements
    assert (judgement.model, judgement.score, judgement.explanation) == ("j", 0.9, "Fine.")


def test_a_judge_without_a_verdict_makes_the_trial_an_error_and_is_paid_for_all_the_same() -> None:
    run = anyio.run(attempt, ScriptedModel(says("no"))).line.run
    assert run.status == "error"
    assert run.error
    assert run.error.kind == "judge"
    assert run.judge_usage.input_tokens == 20
    assert run.checks[0].score is None


def test_a_trial_that_is_interrupted_while_it_is_judged_is_cancelled_and_never_passed() -> None:
    async def interrupted() -> TrialOutcome:
        scope = anyio.CancelScope()

        async def never(conversation: object) -> Reply:
            scope.cancel()
            await anyio.sleep_forever()
            raise AssertionError

        with anyio.fail_after(60):
            return await attempt(ScriptedModel(never), scope)

    outcome = anyio.run(interrupted)
    assert outcome.line.run.status == "cancelled"
    assert outcome.line.transcript
    assert outcome.line.transcript.answer == "Yes."
