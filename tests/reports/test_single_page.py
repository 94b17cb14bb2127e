"""The data of a page: found by name, small, equal for equal data, and without secrets."""

from __future__ import annotations

import base64
import io
import random
import re
import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.base.redaction import KNOWN
from harness.base.redaction.output import guard_stream
from harness.reports import single_page
from harness.reports.single_page import pack_blocks
from tests.reports.packs import blocks_of, packs_of

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=9,
)


KINDS = st.text().filter(lambda kind: not re.search("-[0-9]+$", kind))


@st.composite
def pages(draw: st.DrawFn) -> dict[str, object]:
    """Blocks with a name of their own, and numbered ones in rising order, mixed."""
    alone = draw(st.lists(KINDS, unique=True, max_size=5))
    some = st.lists(KINDS.filter(lambda kind: kind not in alone), min_size=1, max_size=2)
    kinds = draw(st.lists(st.sampled_from(draw(some)), max_size=9))
    numbered = [f"{kind}-{kinds[:place].count(kind) * 3}" for place, kind in enumerate(kinds)]
    return {name: draw(JSON) for name in [*alone, *numbered]}


@given(blocks=pages().filter(bool), size=st.integers(1, 90))
def test_every_block_is_found_by_its_name_however_they_are_packed(
    blocks: dict[str, object], size: int
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(single_page, "PACK", size)
        text = "".join(pack_blocks(blocks.items()))
        assert blocks_of(text) == blocks
        assert text == "".join(pack_blocks(blocks.items()))


def test_the_first_block_is_alone_and_a_pack_is_not_larger_than_its_bound() -> None:
    blocks = [("overview", "x" * 900_000), *((f"case-{n}", "y" * 9_000) for n in range(100))]
    packs = packs_of("".join(pack_blocks(blocks)))
    assert list(packs["0"]) == ["overview"]
    assert max(len(str(pack)) for name, pack in packs.items() if name != "0") < 420_000


def test_half_of_a_surrogate_pair_and_markup_are_no_harm() -> None:
    text = "".join(pack_blocks([("a", "\ud800</script><!--")]))
    assert blocks_of(text) == {"a": "?</script><!--"}
    assert text.count("</script>") == 2


def test_a_secret_is_found_before_it_is_compressed() -> None:
    KNOWN.add_secret("hunter2-hunter2")
    text = "".join(pack_blocks([("a", {"said": "The key is hunter2-hunter2."})]))
    assert blocks_of(text) == {"a": {"said": "The key is [redacted]."}}


def test_letters_that_look_like_a_key_by_chance_are_packed_in_another_way() -> None:
    value = random.Random(7).randbytes(3_000).hex()
    plain = base64.b64encode(zlib.compress(f'{{"a":"{value}"}}'.encode(), 9)).decode()
    KNOWN.add_secret(plain[100:110])  # as a short password may stand in what is packed
    stream = io.StringIO()
    guard_stream(stream).writelines(pack_blocks([("a", value)]))
    assert blocks_of(stream.getvalue()) == {"a": value}
