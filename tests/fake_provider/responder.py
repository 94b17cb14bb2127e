"""What becomes of a request: rejected by the API's rules, or answered by the script."""

from __future__ import annotations

from collections.abc import Mapping

from tests.fake_provider import chat_api, messages_api, responses_api
from tests.fake_provider.api import Api
from tests.fake_provider.incoming import Incoming, Json, Rejected
from tests.fake_provider.memory import Memory
from tests.fake_provider.openai_rules import error as openai_error
from tests.fake_provider.steps import (
    Answer,
    Broken,
    Http,
    PerRequest,
    Script,
    Step,
    by_turn,
    status,
)

APIS: Mapping[str, Api] = {
    "/v1/messages": messages_api.API,
    "/v1/messages/count_tokens": messages_api.COUNT_API,
    "/v1/chat/completions": chat_api.API,
    "/v1/responses": responses_api.API,
}
"""Path → API."""
MODELS = ("claude-sonnet-5", "gpt-4o")
"""What ``GET /v1/models`` lists."""


class Responder:
    """Judges and answers the requests to one provider; used by its server thread only."""

    def __init__(self, script: Script, key: str | None) -> None:
        """Answer by ``script`` whoever has the ``key``; ``None`` asks for none."""
        self._script = script
        self._key = key
        self._memory = Memory()
        self._repeats: dict[bytes, int] = {}

    def decide(
        self, incoming: Incoming, api: Api | None, method: str
    ) -> tuple[Http | Broken, Http]:
        """Return what to send, and the whole answer of which a broken one sends a part."""
        if api is None or method != "POST":
            return (self._other(incoming, method),) * 2
        try:
            self._authorise(incoming, api.key_header)
            _check(incoming, api, self._memory)
        except Rejected as rejected:
            incoming.rejected = rejected.message
            body = api.error(rejected.status, rejected.message, rejected.param, rejected.code)
            return (Http(status=rejected.status, body=body),) * 2
        step = self._step(incoming) if api.scripted else Answer()
        whole = Answer() if isinstance(step, Broken) else step
        if isinstance(whole, Answer):
            body = api.render(whole, incoming, self._memory)
            whole = Http(
                status=200,
                body=api.stream(body, incoming.body) if incoming.body.get("stream") else body,
                delay_s=whole.delay_s,
                held=whole.held,
            )
        elif whole.body is None:
            whole = Http(
                status=whole.status,
                headers=whole.headers,
                body=api.error(whole.status, f"The fake provider answers {whole.status}."),
                delay_s=whole.delay_s,
            )
        return (step if isinstance(step, Broken) else whole), whole

    def _authorise(self, incoming: Incoming, header: str = "authorization") -> None:
        if self._key is None:
            return
        bearer = incoming.headers.get("authorization", "").removeprefix("Bearer ")
        given = (incoming.headers.get(header) if header != "authorization" else None) or bearer
        if not given:
            raise Rejected(
                "You didn't provide an API key: the authentication header is missing.", status=401
            )
        if given != self._key:
            raise Rejected("invalid API key", status=401, code="invalid_api_key")

    def _step(self, incoming: Incoming) -> Answer | Http | Broken:
        try:
            step: Step = (
                self._script(incoming)
                if callable(self._script)
                else by_turn(self._script, incoming)
            )
        except Exception as error:  # noqa: BLE001 - a broken script is the test's failure, told in its response
            step = status(
                500, body={"error": {"type": "script", "message": f"the script raised {error!r}"}}
            )
        while isinstance(step, PerRequest):
            seen = self._repeats.get(incoming.fingerprint, 0)
            self._repeats[incoming.fingerprint] = seen + 1
            step = step.steps[min(seen, len(step.steps) - 1)]
        return step

    def _other(self, incoming: Incoming, method: str) -> Http:
        if incoming.api == "models" and method == "GET":
            try:
                self._authorise(incoming)
            except Rejected as rejected:
                incoming.rejected = rejected.message
                return Http(
                    status=401, body=openai_error(401, rejected.message, None, rejected.code)
                )
            return Http(status=200, body=_model_list("anthropic-version" in incoming.headers))
        code = 404 if incoming.api == "other" else 405
        message = f"{method} {incoming.path} is not served here"
        if method != "HEAD":  # which asks only whether somebody is there
            incoming.rejected = message
        return Http(status=code, body=openai_error(code, message))


def _check(incoming: Incoming, api: Api, memory: Memory) -> None:
    """Raise `Rejected` for a request that the API would not accept."""
    if not incoming.headers.get("content-type", "").startswith("application/json"):
        raise Rejected(
            "Unsupported content type: the request must be application/json.", status=415
        )
    if not incoming.body:
        raise Rejected(
            "We could not parse the JSON body of your request. The body must be a JSON object."
        )
    try:
        api.check(incoming.headers, incoming.body, memory)
    except (
        AttributeError,
        KeyError,
        TypeError,
    ) as error:  # a shape so wrong that no rule foresees it
        raise Rejected(f"The request has a value of the wrong type: {error!r}") from error


def _model_list(anthropic: bool) -> Json:
    if not anthropic:
        data = [
            {"id": name, "object": "model", "created": 1_700_000_000, "owned_by": "fake"}
            for name in MODELS
        ]
        return {"object": "list", "data": data}
    shared = {"type": "model", "created_at": "2025-01-01T00:00:00Z", "lifecycle": "active"}
    data = [{"id": name, "display_name": name, **shared} for name in MODELS]
    return {"data": data, "has_more": False, "first_id": MODELS[0], "last_id": MODELS[-1]}
