"""Failures on the wire become a short message, the right number of attempts, and no secret."""

from __future__ import annotations

import contextlib
import socket
from typing import Any

import anyio
import httpx2
import pytest
from anyio.abc import SocketAttribute, SocketStream
from hypothesis import given
from hypothesis import strategies as st

from harness.base.errors import ModelError
from harness.models import http_failures as faults
from harness.types import Secret
from tests.clock import BOUND_S, TIMEOUTS_S
from tests.fake_provider import (
    FakeProvider,
    Step,
    malformed,
    raw,
    reset,
    say,
    sequence,
    stall,
    status,
)
from tests.models.support import APIS, Api, converse, opened, spec_for

KEY = "sk-proj-very-secret-0123456789"


async def failure(api: Api, step: Step, **settings: Any) -> tuple[ModelError, int]:
    """Return the error that this step ends in, and how many requests were sent."""
    with FakeProvider([step], require_key=None) as provider:
        async with opened(
            api, provider.url, **{"api_key": Secret(KEY), "max_retries": 2, **settings}
        ) as model:
            with pytest.raises(ModelError) as raised:
                await converse(model)
        assert raised.value.attempts == len(provider.journal)
        assert KEY not in str(raised.value)
        return raised.value, len(provider.journal)


@pytest.mark.anyio
@pytest.mark.parametrize("api", APIS)
class TestOnTheWire:
    @pytest.mark.parametrize("code", [400, 401, 403, 404, 413, 422, 501])
    async def test_a_status_that_says_the_same_again_is_asked_once(
        self, api: Api, code: int
    ) -> None:
        error, requests = await failure(api, status(code))
        assert requests == 1
        assert error.status == code
        assert str(error).startswith(f"the-model: HTTP {code} from http://127.0.0.1:")
        assert f"The fake provider answers {code}." in str(error)

    @pytest.mark.parametrize("code", [408, 409, 429, 500, 502, 503, 504, 529])
    async def test_a_status_that_may_pass_is_asked_as_often_as_promised(
        self, api: Api, code: int
    ) -> None:
        error, requests = await failure(api, status(code))
        assert requests == 3
        assert error.status == code
        assert "(3 attempts)" in str(error)

    @pytest.mark.parametrize("fault", [status(500), status(529), reset(), reset(None), status(429)])
    async def test_what_passes_is_survived(self, api: Api, fault: Step) -> None:
        with FakeProvider([sequence(fault, fault, say("At last."))]) as provider:
            async with opened(api, provider.url, max_retries=2) as model:
                (reply,) = await converse(model)
        assert (reply.text, reply.attempts) == ("At last.", 3)

    @pytest.mark.parametrize("after", [None, 0, 20])
    async def test_a_reset_connection_is_said_to_have_broken(
        self, api: Api, after: int | None
    ) -> None:
        error, requests = await failure(api, reset(after))
        assert requests == 3
        assert "broke before the reply was complete" in str(error)
        assert error.status is None

    @pytest.mark.parametrize("after", [None, 20])
    async def test_a_reply_that_stalls_ends_with_the_exchanges_bound(
        self, api: Api, after: int | None
    ) -> None:
        for seconds in TIMEOUTS_S:
            with FakeProvider([stall(after)]) as provider:
                async with opened(api, provider.url, timeout_s=seconds, max_retries=1) as model:
                    with pytest.raises(ModelError) as raised:
                        await converse(model)
            if len(provider.journal) == 2:
                break
        assert (raised.value.attempts, len(provider.journal)) == (2, 2)
        assert "no complete reply from http://127.0.0.1:" in str(raised.value)
        assert f"within {seconds:g} s (2 attempts)" in str(raised.value)

    async def test_a_reply_that_trickles_in_ends_with_the_exchanges_bound_all_the_same(
        self, api: Api
    ) -> None:
        async def trickle(stream: SocketStream) -> None:
            async with stream:
                await stream.receive()
                await stream.send(b"HTTP/1.1 200 OK\r\ncontent-length: 1000000\r\n\r\n")
                with contextlib.suppress(anyio.BrokenResourceError):
                    while True:
                        await stream.send(b" ")
                        await anyio.sleep(0.01)

        listener = await anyio.create_tcp_listener(local_host="127.0.0.1")
        url = f"http://127.0.0.1:{listener.extra(SocketAttribute.local_port)}"
        async with listener, anyio.create_task_group() as group:
            group.start_soon(listener.serve, trickle)
            async with opened(api, url, timeout_s=0.2) as model:
                with (
                    anyio.fail_after(BOUND_S),
                    pytest.raises(ModelError, match="no complete reply") as raised,
                ):
                    await converse(model)
            group.cancel_scope.cancel()
        assert raised.value.attempts == 1

    async def test_a_refused_connection_names_the_address_and_the_setting(self, api: Api) -> None:
        with socket.socket() as unused:
            unused.bind(("127.0.0.1", 0))
            port = unused.getsockname()[1]
            async with opened(api, f"http://127.0.0.1:{port}", max_retries=1) as model:
                with pytest.raises(ModelError) as raised:
                    await converse(model)
        assert str(raised.value) == (
            f"the-model: cannot connect to http://127.0.0.1:{port} (2 attempts)\n"
            "  Is the server running there? Check base_url."
        )

    @pytest.mark.parametrize(
        "text", ["{", "Service is fine", "<html><head><title>x</title></head><b>Log in</b></html>"]
    )
    async def test_a_body_that_is_not_json_is_quoted_and_not_asked_for_again(
        self, api: Api, text: str
    ) -> None:
        error, requests = await failure(api, malformed(text))
        assert requests == 1
        assert "is not JSON: " in str(error)
        assert "Is base_url the URL of the API itself?" in str(error)
        assert "<" not in str(error)

    @pytest.mark.parametrize("text", ["", " "])
    async def test_an_empty_body_is_said_to_be_empty(self, api: Api, text: str) -> None:
        error, _ = await failure(api, malformed(text))
        assert "the reply is empty" in str(error)

    @pytest.mark.parametrize("value", [[], "text", None, 7])
    async def test_json_that_is_no_object_is_no_reply(self, api: Api, value: Any) -> None:
        error, _ = await failure(api, raw(value))
        assert "the reply is not a JSON object" in str(error)

    async def test_json_that_is_too_deep_is_no_reply(self, api: Api) -> None:
        error, _ = await failure(api, malformed("[" * 100_000))
        assert "is not JSON" in str(error)

    async def test_an_error_in_a_body_that_says_200_is_told(self, api: Api) -> None:
        error, requests = await failure(
            api, raw({"error": {"message": "no such deployment", "code": 404}})
        )
        assert requests == 1
        assert "the API reports an error: no such deployment" in str(error)

    async def test_an_error_in_a_body_that_says_200_and_may_pass_is_asked_again(
        self, api: Api
    ) -> None:
        body = {"status": "failed", "error": {"code": "server_error", "message": "try again"}}
        error, requests = await failure(api, raw(body))
        assert requests == 3
        assert "the API reports an error: try again (3 attempts)" in str(error)

    async def test_an_account_without_credit_is_not_asked_again(self, api: Api) -> None:
        body = {
            "error": {"message": "You exceeded your current quota.", "code": "insufficient_quota"}
        }
        error, requests = await failure(api, status(429, {"retry-after": "600"}, body))
        assert requests == 1
        assert "The account has no credit left." in str(error)

    async def test_an_api_that_says_not_to_retry_is_not_asked_again(self, api: Api) -> None:
        _, requests = await failure(api, status(500, {"x-should-retry": "false"}))
        assert requests == 1

    @pytest.mark.parametrize(
        ("code", "settings", "advice"),
        [
            (401, {"api_key_variable": "THE_KEY"}, "Check the key in THE_KEY."),
            (
                401,
                {"api_key": None, "api_key_variable": "THE_KEY"},
                "No key was sent: set THE_KEY.",
            ),
            (403, {"model_id": "claude-x"}, "The key has no access to 'claude-x' here."),
            (404, {"model_id": "claude-x"}, "Does this API have a model 'claude-x'?"),
            (413, {}, "The conversation is too large for the API."),
            (429, {"max_retries": 0}, "Run fewer trials at once (--concurrency)"),
        ],
    )
    async def test_common_failures_come_with_advice(
        self, api: Api, code: int, settings: dict[str, Any], advice: str
    ) -> None:
        error, _ = await failure(api, status(code), **settings)
        assert advice in str(error)

    async def test_an_api_that_repeats_the_secrets_is_not_quoted_with_them(self, api: Api) -> None:
        body = {
            "error": {"message": f"Incorrect key {KEY} and Bearer hidden-token-1 and sk-ant-…abcd"}
        }
        headers = {"X-Gateway": "Bearer hidden-token-1"}
        error, _ = await failure(api, status(401, body=body), headers=headers)
        assert "Incorrect key ••• and Bearer ••• and •••" in str(error)

    async def test_an_error_of_any_length_is_told_in_few_words(self, api: Api) -> None:
        error, _ = await failure(api, status(400, body="word " * 100_000))
        assert len(str(error)) < 500


@given(st.text(), st.integers(0, 30))
def test_a_key_is_never_quoted(text: str, at: int) -> None:
    spec = spec_for("chat", None, api_key=Secret("topSecretKey1"))
    assert "topSecretKey1" not in faults.quote_text(text[:at] + "topSecretKey1" + text[at:], spec)


@pytest.mark.parametrize(
    ("cause", "words", "retryable"),
    [
        (httpx2.ConnectTimeout("late"), "cannot connect to https://host", True),
        (httpx2.ReadTimeout("late"), "no complete reply from https://host within 60 s", True),
        (TimeoutError(), "no complete reply from https://host within 60 s", True),
        (
            httpx2.ReadError("reset"),
            "the connection to https://host broke before the reply was complete",
            True,
        ),
        (
            httpx2.DecodingError("bad gzip"),
            "the reply from https://host cannot be decompressed: bad gzip",
            False,
        ),
        (
            httpx2.TooManyRedirects("round and round"),
            "the request to https://host failed: round and round",
            False,
        ),
        (ValueError(), "the request to https://host failed: ValueError", False),
    ],
)
def test_every_way_in_which_a_connection_fails_has_its_words(
    cause: Exception, words: str, retryable: bool
) -> None:
    fault = faults.fault_from_connection(cause, spec_for("chat", None), "https://host/v1")
    assert (fault.message, fault.retryable, fault.throttled) == (words, retryable, False)


def test_the_address_in_a_message_has_no_credentials() -> None:
    assert faults.get_origin("https://user:pass@host:81/v1?key=x") == "https://host:81"
