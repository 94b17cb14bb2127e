"""Search for withheld values in texts, plain or encoded.

`values` normalises texts for comparison and grades values by how improbable an accidental match is,
`decoders` undoes encodings, `search` finds values in texts, up to two encodings deep, and `masks`
tells what a mask leaves readable. Which values are withheld from whom is decided in
`harness.judging.policy`.
"""

from __future__ import annotations

from harness.judging.secrecy.search import FoundValue as FoundValue
from harness.judging.secrecy.search import Page as Page
from harness.judging.secrecy.search import ValueSearch as ValueSearch
from harness.judging.secrecy.values import SearchForm as SearchForm
from harness.judging.secrecy.values import build_search_form as build_search_form
