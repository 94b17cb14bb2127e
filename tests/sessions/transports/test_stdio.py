"""The two streams of stdio, without a process: bytes in, messages out."""

from __future__ import annotations

import json
from collections.abc import Sequence

import anyio
import pytest
from anyio.abc import ByteReceiveStream
from hypothesis import given
from hypothesis import strategies as st
from mcp_types import JSONRPCError, JSONRPCNotification, JSONRPCResponse

from harness.sessions.transports.frames import MALFORMED, MAX_MESSAGE_BYTES
from harness.sessions.transports.stdio import StdioReader

Answer = tuple[object, object]


class Chunks(ByteReceiveStream):
    """A pipe that holds these chunks and then ends."""

    def __init__(self, chunks: Sequence[bytes]) -> None:
        self._chunks = [chunk for chunk in chunks if chunk]

    async def receive(self, max_bytes: int = 65536) -> bytes:
        if not self._chunks:
            raise anyio.EndOfStream
        return self._chunks.pop(0)

    async def aclose(self) -> None:
        pass


def read(*chunks: bytes) -> tuple[list[Answer], StdioReader, int]:
    """Return every answer in ``chunks`` as (id, result or error code), the reader, and its reports
    of the end.
    """
    ends: list[None] = []
    reader = StdioReader(Chunks(chunks), lambda: ends.append(None))

    async def collect() -> list[Answer]:
        found: list[Answer] = []
        async for item in reader:
            assert not isinstance(item, Exception)
            match item.message:
                case JSONRPCResponse() as response:
                    found.append((response.id, response.result))
                case JSONRPCError() as failed:
                    found.append((failed.id, failed.error.code))
                case other:
                    found.append((None, other))
        return found

    return anyio.run(collect), reader, len(ends)


def line(request_id: object, result: object) -> bytes:
    return json.dumps({"jsonrpc": "2.0", "id": request_id, "result": result}).encode() + b"\n"


json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**60), 2**60)
    | st.text(st.characters(exclude_categories=["Cs"])),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3)
    ),
    max_leaves=10,
)


@given(
    results=st.lists(st.dictionaries(st.text(max_size=5), json_values, max_size=3), max_size=5),
    data=st.data(),
)
def test_messages_are_the_same_however_the_bytes_are_cut(
    results: list[dict[str, object]], data: st.DataObject
) -> None:
    whole = b"".join(line(number, result) for number, result in enumerate(results))
    cuts = sorted(data.draw(st.lists(st.integers(0, len(whole)), max_size=8)))
    chunks = [whole[start:end] for start, end in zip([0, *cuts], [*cuts, len(whole)], strict=True)]
    assert read(*chunks)[0] == list(enumerate(json.loads(json.dumps(results))))


@given(noise=st.lists(st.binary(max_size=40).map(lambda raw: raw.replace(b"\n", b"")), max_size=6))
def test_noise_never_hides_an_answer(noise: list[bytes]) -> None:
    chunks = [part for raw in noise for part in (raw + b"\n", line(1, {"ok": True}))]
    assert read(*chunks)[0] == [(1, {"ok": True})] * len(noise)


@given(
    results=st.lists(st.dictionaries(st.text(max_size=5), json_values, max_size=3), min_size=1),
    between=st.text(" \t\r\ufeff", max_size=1),
)
def test_messages_on_one_line_are_all_read(results: list[dict[str, object]], between: str) -> None:
    parts = (line(number, result).strip() for number, result in enumerate(results))
    answers, reader, _ = read(between.encode().join(parts) + b"\n")
    assert answers == list(enumerate(json.loads(json.dumps(results))))
    assert reader.noise.count == 0


@given(before=st.sampled_from(["DEBUG got ", "x", "[1, ", '{"level": ', '"text" ', "}"]))
def test_a_message_behind_other_text_is_not_read_and_the_line_is_kept(before: str) -> None:
    written = before.encode() + line(1, {})
    answers, reader, _ = read(written, line(2, {}))
    assert answers == [(2, {})]
    assert reader.noise.get_first_since() == written.decode().strip()


def test_text_behind_a_message_is_kept_and_hides_nothing() -> None:
    answers, reader, _ = read(line(1, {}).strip() + b" done\n", line(2, {}))
    assert answers == [(1, {}), (2, {})]
    assert (reader.noise.get_first_since() or "").endswith("done")


def test_the_first_line_that_is_not_mcp_is_kept_for_messages() -> None:
    answers, reader, ends = read(b"\n", b"Server started\n", b"again\n", line(1, {}))
    assert answers == [(1, {})]
    assert (reader.noise.get_first_since(), reader.complaint, ends) == ("Server started", None, 1)


def test_an_answer_that_is_none_becomes_an_error_for_its_request() -> None:
    odd = [
        b'{"id": 1}',
        b'{"jsonrpc": "2.0", "id": 2, "result": null}',
        b'{"jsonrpc": "1.0", "id": "3", "result": {}}',
    ]
    answers, _, _ = read(*(text + b"\n" for text in odd))
    assert answers == [(1, MALFORMED), (2, MALFORMED), ("3", MALFORMED)]


def test_a_malformed_request_of_the_server_answers_nobody() -> None:
    answers, _, _ = read(
        b'{"jsonrpc": "2.0", "id": 1, "method": 5}\n', b'{"id": true}\n', b'{"id": null}\n'
    )
    assert answers == []


def test_notifications_are_passed_on_and_are_no_answers() -> None:
    answers, reader, _ = read(b'{"jsonrpc": "2.0", "method": "notifications/progress"}\n')
    assert ([type(message) for _, message in answers], reader.noise.get_first_since()) == (
        [JSONRPCNotification],
        None,
    )


def test_surrogate_pairs_stay_and_lone_ones_are_replaced() -> None:
    answers, _, _ = read(
        rb'{"jsonrpc":"2.0","id":1,"result":{"a":"\ud83d\ude00","\udc00":["\ud800x"]}}' + b"\n"
    )
    assert answers == [(1, {"a": "😀", "\ufffd": ["\ufffdx"]})]


def test_nesting_without_end_is_noise() -> None:
    answers, _, _ = read(b"[" * 200_000 + b"\n", line(1, {}))
    assert answers == [(1, {})]


def test_a_line_without_end_ends_the_stream_with_a_complaint() -> None:
    million = b"x" * 1_000_000
    _, reader, ends = read(*[million] * (MAX_MESSAGE_BYTES // len(million) + 2), line(1, {}))
    assert reader.complaint == "wrote more than 64 MB to stdout without a line end"
    assert ends == 1


def test_an_unfinished_last_line_is_not_a_message_and_is_quoted() -> None:
    answers, reader, _ = read(b"ready\n", line(1, {})[:-1])
    assert answers == []
    assert reader.noise.quote_since() == "; on stdout it wrote text that is not MCP: ready"
    (sent,) = line(1, {}).splitlines()
    assert reader.noise.quote_since(1) == (
        f"; on stdout it wrote a line without an end: {sent.decode()}"
    )


@pytest.mark.parametrize(
    ("written", "request_id"), [("2", 2), ("2.0", 2), ("2e0", 2), ("2.5", None)]
)
def test_an_id_with_a_decimal_point_is_the_whole_number(
    written: str, request_id: int | None
) -> None:
    answer = f'{{"jsonrpc": "2.0", "id": {written}, "result": {{}}}}\n'
    assert read(answer.encode())[0] == ([] if request_id is None else [(request_id, {})])
