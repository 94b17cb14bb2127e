from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any

import anyio
import pytest

from harness.base.errors import JudgeError, ModelError
from harness.judging.checks.judge.faithfulness import RUBRIC
from harness.judging.checks.judge.judge import Judge, JudgeModel, spec_for_judging
from harness.judging.checks.judge.prompt import (
    JUDGE_PROMPT_VERSION,
    SYSTEM,
    JudgeQuestion,
    build_material,
)
from harness.models.model import open_model
from harness.types import Judgement, Message, Reply, ToolMessage, Usage, UserMessage
from tests.fake_provider import FakeProvider, Incoming, Step, call, say, status
from tests.judging.checks.judge.test_prompt import ADVERSARIAL
from tests.judging.checks.judges import judge_of, verdict
from tests.models.support import APIS, Api, spec_for
from tests.support import asks, says

pytestmark = pytest.mark.anyio


def question(answer: str = "It costs $187.50.", result: str = "187.5") -> JudgeQuestion:
    return JudgeQuestion(
        instructions=RUBRIC,
        material=build_material(
            "What does it cost?", [{"tool": "price", "result": result}], answer
        ),
    )


async def test_a_judge_gives_a_score_a_reason_and_where_they_come_from() -> None:
    judge, model = judge_of(verdict(0.95, "All of it is grounded."))
    found = await judge.grade(question())
    assert found == Judgement(
        question=question().digest,
        model="j",
        prompt_version=JUDGE_PROMPT_VERSION,
        score=0.95,
        explanation="All of it is grounded.",
    )
    assert model.asked == [(UserMessage(text=question().text),)]
    assert model.systems == [SYSTEM]
    assert judge.usage == Usage(input_tokens=10, output_tokens=5, cost_usd=0.01)
    assert judge.judgements == [found]


async def test_an_equal_question_is_not_paid_for_twice() -> None:
    models = {"j": JudgeModel("j", judge_of(verdict(0.5))[1])}
    first, second = Judge(models, "j"), Judge(models, "j")
    before = await first.grade(question())
    after = await second.grade(question())
    assert (before.cached, after.cached, after.score) == (False, True, 0.5)
    assert second.usage == Usage()
    assert (await second.grade(question("Another answer."))).cached is False


async def test_an_equal_question_under_way_is_waited_for() -> None:
    release = anyio.Event()

    async def slowly(conversation: Sequence[Message]) -> Reply:
        await release.wait()
        return verdict(0.5)

    judge, model = judge_of(slowly)
    with anyio.fail_after(60):
        async with anyio.create_task_group() as group:
            for _ in range(3):
                group.start_soon(judge.grade, question())
            await anyio.wait_all_tasks_blocked()
            release.set()
    assert len(model.asked) == 1
    assert sorted(judgement.cached for judgement in judge.judgements) == [False, True, True]


async def test_a_reply_without_a_verdict_is_told_so_once_and_both_replies_are_paid_for() -> None:
    judge, model = judge_of(says("I would give 1.0"), verdict(0.4))
    assert (await judge.grade(question())).score == 0.4
    assert isinstance(model.asked[1][-1], UserMessage)
    assert "called verdict never" in model.asked[1][-1].text
    assert judge.usage.input_tokens == 20


async def test_every_call_of_a_reply_that_is_no_verdict_is_answered() -> None:
    judge, model = judge_of(asks(("verdict", {"score": 2}), ("verdict", {})), verdict(0.4))
    await judge.grade(question())
    answers = model.asked[1][-1]
    assert isinstance(answers, ToolMessage)
    assert [(answer.request_id, answer.is_error) for answer in answers.answers] == [
        ("call_1", True),
        ("call_2", True),
    ]


async def test_after_two_replies_without_a_verdict_there_is_none_and_it_is_not_kept() -> None:
    judge, model = judge_of(verdict(7), verdict("high"), verdict(0.4))
    with pytest.raises(
        JudgeError, match=r"judge j gave no verdict in 2 attempts: its score is not a number"
    ):
        await judge.grade(question())
    assert len(model.asked) == 2
    assert judge.usage.input_tokens == 20
    assert judge.judgements == []
    assert (await judge.grade(question())).score == 0.4


async def test_a_model_without_a_reply_is_a_judges_error() -> None:
    judge, _ = judge_of(ModelError("the-model: 529 overloaded"))
    with pytest.raises(JudgeError, match="judge j gave no reply: the-model: 529 overloaded"):
        await judge.grade(question())


async def test_a_judge_that_is_silent_is_given_up_in_time() -> None:
    async def never(conversation: Sequence[Message]) -> Reply:
        await anyio.sleep_forever()
        raise AssertionError

    judge, _ = judge_of(never, timeout_s=0.05)
    with anyio.fail_after(60), pytest.raises(JudgeError, match="no verdict within"):
        await judge.grade(question())


async def test_a_check_may_name_its_own_judge() -> None:
    judge = Judge(
        {
            "strict": JudgeModel("strict", judge_of(verdict(0.1))[1]),
            "kind": JudgeModel("kind", judge_of(verdict(1))[1]),
        },
        "kind",
    )
    assert (await judge.grade(question())).score == 1.0
    assert (await judge.grade(question(), "strict")).score == 0.1


async def test_without_a_judge_it_is_said_how_to_name_one() -> None:
    judge = Judge({})
    assert not judge.is_available()
    assert judge.is_available("some")
    with pytest.raises(JudgeError, match="--judge-model"):
        await judge.grade(question())


async def test_a_recorded_verdict_stands_for_the_same_question_and_judge_only() -> None:
    recorded = Judgement(
        question=question().digest, model="j", prompt_version="1", score=0.8, explanation="Fine."
    )
    judge = Judge({}, "j", recorded=[recorded])
    assert (await judge.grade(question())).score == 0.8
    assert judge.usage == Usage()
    with pytest.raises(JudgeError, match="no verdict of j on this question as it is asked now"):
        await judge.grade(question("Another answer."))
    with pytest.raises(JudgeError, match="no verdict of other"):
        await judge.grade(question(), "other")


# ── Over the wire, through the real SDKs ─────────────────────────────────────────────────────


def by_instructions(request: Incoming) -> Step:
    """Score by what is outside the data, like a judge that the data cannot influence."""
    lines = request.prompt.split("\n")
    place = lines.index("BEGIN DATA") + 1
    outside = "\n".join((request.system, *lines[:place], *lines[place + 1 :]))
    return call(
        "verdict",
        {
            "explanation": "By the book.",
            "score": hashlib.sha256(outside.encode()).digest()[0] / 255,
        },
    )


async def asked(
    api: Api, provider: FakeProvider, *questions: JudgeQuestion, **settings: Any
) -> list[Judgement]:
    model = open_model(spec_for_judging(spec_for(api, provider.url, **settings)))
    judge = Judge({"j": JudgeModel("j", model)}, "j")
    try:
        return [await judge.grade(each) for each in questions]
    finally:
        await model.aclose()


@pytest.mark.parametrize("api", APIS)
async def test_no_adversarial_text_changes_a_verdict(api: Api) -> None:
    hostile = [question(answer=text) for text in ADVERSARIAL.values()]
    hostile += [question(result=text) for text in ADVERSARIAL.values()]
    with FakeProvider(by_instructions) as provider:
        found = await asked(api, provider, question(), *hostile)
        journal = provider.journal
    assert len({judgement.score for judgement in found}) == 1
    assert [request.rejected for request in journal if request.rejected] == []
    assert len(journal) == len(found)


@pytest.mark.parametrize("api", APIS)
async def test_a_verdict_in_words_counts_for_nothing_and_is_asked_for_again(api: Api) -> None:
    script = [
        say('{"score": 1.0, "explanation": "Perfect."}'),
        call("verdict", {"explanation": "No.", "score": 0.1}),
    ]
    with FakeProvider(script) as provider:
        (found,) = await asked(api, provider, question())
    assert found.score == 0.1
    assert [request.rejected for request in provider.journal] == [None, None]


@pytest.mark.parametrize("api", APIS)
async def test_a_call_that_is_no_verdict_is_answered_on_the_wire(api: Api) -> None:
    script = [call("verdict", {"score": 11}), call("verdict", {"explanation": "No.", "score": 0.1})]
    with FakeProvider(script) as provider:
        (found,) = await asked(api, provider, question())
    assert found.score == 0.1
    assert provider.journal[1].rejected is None
    assert "other fields" in provider.journal[1].tool_results[0].text


async def test_the_judge_is_offered_one_tool_at_temperature_0_where_the_api_takes_one() -> None:
    good = call("verdict", {"explanation": "Yes.", "score": 1})
    for api, headers in (
        ("chat", {}),
        ("responses", {}),
        ("messages", {"anthropic-version": "2023-06-01"}),
    ):
        with FakeProvider([good]) as provider:
            await asked(api, provider, question(), headers=headers)  # type: ignore[arg-type]
        assert provider.journal[0].body["temperature"] == 0
        assert provider.journal[0].tool_names == ("verdict",)
    with FakeProvider([good]) as provider:
        await asked("messages", provider, question())
    assert "temperature" not in provider.journal[0].body
    assert provider.journal[0].rejected is None


async def test_an_api_that_refuses_is_a_judges_error_without_the_key() -> None:
    with FakeProvider([status(401)]) as provider, pytest.raises(JudgeError) as caught:
        await asked("chat", provider, question())
    assert "test-key" not in str(caught.value)
