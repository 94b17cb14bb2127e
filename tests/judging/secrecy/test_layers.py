"""What a text can be read as, whatever is searched for."""

from __future__ import annotations

import base64

from harness.judging.secrecy.search import decode_layers


def test_a_text_that_many_identities_are_sent_is_read_once() -> None:
    first, second = (f"The list of tools.\nAs {who} sees it." for who in ("everybody", "everybody"))
    assert decode_layers(first) is decode_layers(second)


def test_a_long_text_is_not_kept_in_memory() -> None:
    text = "a list of tools " * 4_000
    assert decode_layers(text) is not decode_layers(text)


def test_each_depth_of_encoding_is_a_layer_that_knows_its_lines() -> None:
    inner = base64.b64encode(b"the token of alice").decode()
    outer = base64.b64encode(inner.encode()).decode()
    layers = decode_layers(f"first\nkey: {outer}").layers
    assert len(layers) == 3
    (place,) = (
        number for number, line in enumerate(layers[2].plain.split("\n")) if "alice" in line
    )
    assert (layers[2].lines[place], layers[2].how[place]) == (1, ("base64", "base64"))
