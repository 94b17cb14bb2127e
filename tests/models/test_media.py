"""Pictures, sound and files as each API takes them, from tools and from users."""

from __future__ import annotations

import base64
import json

import pytest

from harness.base import ModelError
from harness.models import get_taken_kinds, list_unsent
from harness.types import AssistantMessage, Media, ToolAnswer, ToolMessage, UserMessage
from tests.fake_provider import FakeProvider, calls, say
from tests.models.support import APIS, TOOLS, Api, converse, opened, spec_for


def of(mime: str, content: bytes) -> Media:
    return Media(words=mime, mime=mime, data=base64.b64encode(content).decode(), given=True)


PICTURE = of("image/png", b"\x89PNG\r\n\x1a\nabc")
PAPER = of("application/pdf", b"%PDF-1.7 abc")
SOUND = of("audio/wav", b"RIFFabc")


def sent(provider: FakeProvider) -> str:
    assert [one.rejected for one in provider.journal] == [None] * len(provider.journal)
    return json.dumps(provider.journal[-1].body)


@pytest.mark.anyio
@pytest.mark.parametrize("api", APIS)
async def test_what_tools_return_reaches_the_model_beside_their_texts(api: Api) -> None:
    asked = [("get_order", {"id": 1}), ("get_order", {"id": 2})]
    with FakeProvider([calls(*asked), say("Nice.")]) as provider:
        async with opened(api, provider.url) as model:
            first = UserMessage(text="Look.")
            reply = await model.answer((first,), TOOLS, None)
            answers = tuple(
                ToolAnswer(request_id=one.id, text=f"seen {number}", media=media)
                for number, (one, media) in enumerate(
                    zip(reply.tool_requests, [(PICTURE, PAPER), ()], strict=True)
                )
            )
            talk = (first, AssistantMessage(reply=reply), ToolMessage(answers=answers))
            await model.answer(talk, TOOLS, None)
    body = sent(provider)
    assert body.count(PICTURE.data) == body.count(PAPER.data) == 1
    assert [result.text for result in provider.journal[-1].tool_results][1] == "seen 1"


@pytest.mark.anyio
@pytest.mark.parametrize("api", APIS)
async def test_a_user_can_show_files(api: Api) -> None:
    said = UserMessage(text="What is it?", media=(PICTURE, PAPER))
    with FakeProvider([say("A sea.")]) as provider:
        async with opened(api, provider.url) as model:
            await converse(model, conversation=(said,))
    body = sent(provider)
    assert PICTURE.data in body
    assert PAPER.data in body
    assert "What is it?" in body


@pytest.mark.anyio
async def test_sound_is_sent_in_the_form_of_chat_completions() -> None:
    said = UserMessage(text="What is it?", media=(SOUND,))
    with FakeProvider([say("A bell.")]) as provider:
        async with opened("chat", provider.url) as model:
            await converse(model, conversation=(said,))
    part = provider.journal[0].body["messages"][0]["content"][1]
    assert part == {"type": "input_audio", "input_audio": {"data": SOUND.data, "format": "wav"}}
    assert sent(provider)


@pytest.mark.anyio
@pytest.mark.parametrize("api", APIS)
async def test_the_provider_refuses_bytes_of_another_type(api: Api) -> None:
    said = UserMessage(text="?", media=(of("image/png", b"GIF89a"),))
    with FakeProvider([say("?")]) as provider:
        async with opened(api, provider.url) as model:
            with pytest.raises(ModelError):
                await converse(model, conversation=(said,))


def test_a_model_takes_what_its_own_api_takes_and_elsewhere_what_is_configured() -> None:
    assert get_taken_kinds(spec_for("messages", None)) == {"image", "file"}
    assert get_taken_kinds(spec_for("chat", None)) == {"image", "file"}
    assert get_taken_kinds(spec_for("chat", "http://127.0.0.1:1")) == set()
    everything = {"takes": ("image", "audio", "file")}
    elsewhere = "http://127.0.0.1:1"
    assert get_taken_kinds(spec_for("chat", elsewhere, **everything)) == {"image", "audio", "file"}
    assert get_taken_kinds(spec_for("chat", None, takes=())) == set()
    for api in ("responses", "messages"):
        silent = spec_for(api, elsewhere, **everything)
        assert get_taken_kinds(silent) == {"image", "file"}
        assert list_unsent(silent) == (
            "audio is not sent: harness knows no form for it in this API",
        )
