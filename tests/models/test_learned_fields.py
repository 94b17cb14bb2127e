"""What a model takes is learned from what its API refuses, once, and not guessed from its name."""

from __future__ import annotations

from typing import Any

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.base.errors import ModelError
from tests.fake_provider import FakeProvider, Step, say, status
from tests.fake_provider.incoming import Incoming
from tests.models.support import Api, converse, opened

FIELDS: dict[Api, tuple[str, ...]] = {
    "chat": ("temperature", "max_tokens"),
    "responses": ("temperature", "include", "store"),
    "messages": ("temperature",),
}
WORDS = (
    "Unsupported parameter: '{field}' is not supported with this model.",
    "Unsupported value: '{field}' does not support 0.5 here. Only the default (1) is supported.",
    "Unknown parameter: '{field}'.",
    "Unrecognized request argument supplied: {field}",
    "`{field}` is deprecated for this model.",
    "property '{field}' is unsupported",
    "{field}: Extra inputs are not permitted",
    "this model doesn't support {field}=0.5",
    "invalid {field}: only 1 is allowed for this model",
    "`{field}` may only be set to 1 when thinking is enabled",
)
SETTINGS: dict[str, Any] = {
    "temperature": 0.5,
    "max_tokens": 50,
    "headers": {"anthropic-version": "2023-06-01"},
}


def shapes(text: str, field: str) -> list[Any]:
    """Return an error's body in the shapes of several APIs."""
    detail = {"type": "extra_forbidden", "loc": ["body", field], "msg": text}
    kind = "invalid_request_error"
    said = f"XException - Error code: 400 - { ({'error': {'message': text, 'type': kind}})!r}"
    return [
        {"error": {"message": text, "type": kind, "param": field, "code": None}},
        {"error": {"message": text, "type": kind}},
        {"type": "error", "error": {"message": text, "type": kind}},
        {"detail": [detail]},
        {"object": "error", "message": text, "code": 400},
        {"object": "error", "message": {"detail": [detail]}, "type": kind},
        {"error": {"message": f"litellm.BadRequestError: {said}. Received Model Group=x"}},
    ]


@given(
    refused=st.sampled_from([(api, field) for api, fields in FIELDS.items() for field in fields]),
    words=st.sampled_from(WORDS),
    shape=st.integers(0, 6),
    code=st.sampled_from([400, 422]),
    model_id=st.sampled_from(["gpt-4o", "llama3", "some/model"]),
)
def test_a_field_that_is_refused_is_refused_once(
    refused: tuple[Api, str], words: str, shape: int, code: int, model_id: str
) -> None:
    api, field = refused
    error = shapes(words.format(field=field), field)[shape]

    def answers(request: Incoming) -> Step:
        return status(code, body=error) if field in request.body else say("Hi.")

    async def asked() -> None:
        with FakeProvider(answers) as provider:
            async with opened(api, provider.url, model_id=model_id, **SETTINGS) as model:
                (first,) = await converse(model)
                (second,) = await converse(model)
            assert [request.status for request in provider.journal] == [code, 200, 200]
            assert len(first.adapted) == 1
            assert first.adapted[0].startswith(f"the-model: {field} is ")
            assert (first.attempts, second.attempts, second.adapted) == (2, 1, ())
            if field == "max_tokens":
                assert provider.journal[-1].body["max_completion_tokens"] == 50

    anyio.run(asked)


@pytest.mark.anyio
@pytest.mark.parametrize("model_id", ["o4-mini", "gpt-5", "gpt-5-nano"])
async def test_a_reasoning_model_is_known_by_its_refusals(model_id: str) -> None:
    with FakeProvider([say("Hi.")]) as provider:
        async with opened("chat", provider.url, model_id=model_id, **SETTINGS) as model:
            (first,) = await converse(model)
            await converse(model)
    assert [request.status for request in provider.journal] == [400, 400, 200, 200]
    body = provider.journal[-1].body
    assert body.keys() & {"temperature", "max_tokens"} == set()
    assert body["max_completion_tokens"] == 50
    assert first.adapted == (
        "the-model: max_tokens is sent as max_completion_tokens: the API does not take max_tokens",
        "the-model: temperature is not sent any more: the API does not take it",
    )


@pytest.mark.anyio
async def test_a_field_whose_other_name_is_refused_too_is_the_configurations_error() -> None:
    def answers(request: Incoming) -> Step:
        name = next(one for one in ("max_tokens", "max_completion_tokens") if one in request.body)
        return status(400, body=shapes(WORDS[0].format(field=name), name)[0])

    with FakeProvider(answers) as provider:
        async with opened("chat", provider.url, max_tokens=50) as model:
            with pytest.raises(ModelError, match="'max_completion_tokens' is not") as raised:
                await converse(model)
    assert (raised.value.kind, raised.value.attempts, len(provider.journal)) == (
        "configuration", 2, 2,
    )  # fmt: skip


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"temperature": 9.0}, "Invalid 'temperature': expected a value between 0 and 2."),
        ({"max_tokens": 10**6}, "max_tokens is too large: this model supports at most 4096"),
        ({"max_tokens": 10**6}, "max_tokens: values that exceed 4096 are not allowed"),
        ({"body": {"temperature": 0.5}}, WORDS[0].format(field="temperature")),
        ({"body": {"max_tokens": 5}}, WORDS[0].format(field="max_tokens")),
        ({"body": {"top_k": 5}}, WORDS[0].format(field="top_k")),
    ],
)
async def test_a_bad_value_and_a_field_of_the_configured_body_are_never_changed(
    settings: dict[str, Any], words: str
) -> None:
    with FakeProvider(lambda _: status(400, body={"error": {"message": words}})) as provider:
        async with opened("chat", provider.url, model_id="llama3", **settings) as model:
            with pytest.raises(ModelError) as raised:
                await converse(model)
    assert (raised.value.kind, len(provider.journal)) == ("configuration", 1)


@pytest.mark.anyio
async def test_requests_under_way_together_learn_the_same_and_all_succeed() -> None:
    with FakeProvider([say("Hi.")]) as provider:
        async with (
            opened("chat", provider.url, model_id="gpt-5", **SETTINGS) as model,
            anyio.create_task_group() as group,
        ):
            for _ in range(8):
                group.start_soon(converse, model)
    assert [request.status for request in provider.journal].count(200) == 8
