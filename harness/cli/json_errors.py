"""With ``--json-output``, an error that prevents the result is a JSON document too."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager

from harness.errors import HarnessError
from harness.reports.json_report import write_json_error


@contextmanager
def errors_as_json(*, wanted: bool) -> Iterator[None]:
    """Write what goes wrong inside to stdout as well, if that is ``wanted``."""
    try:
        yield
    except HarnessError as error:
        if wanted:
            write_json_error(str(error), sys.stdout)
        raise
