"""The whole site, built where its tools are installed (``make docs``)."""

from __future__ import annotations

import pytest

from docs.site.__main__ import BUILD, GENERATOR, main

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not GENERATOR.exists(), reason="make docs installs the generator"),
]


def test_the_site_is_built_without_a_fault() -> None:
    assert main() == 0
    assert (BUILD / "site" / "index.html").exists()
