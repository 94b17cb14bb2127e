"""Files of the benchmark's public repository, one by one: the whole of it is large, and a few are needed."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from harness.errors import UsageError
from harness.fetching import Progress
from harness.fetching.members import MAX_BYTES

REPOSITORY: Final = "https://raw.githubusercontent.com/sierra-research/tau2-bench"
REVISION: Final = "main"
"""Where the files are taken from. What pins them are their digests: a later revision of them is refused."""

_TIMEOUT_S: Final = 60.0


def repository(paths: Iterable[str], progress: Progress, base: str = f"{REPOSITORY}/{REVISION}") -> dict[str, bytes]:
    """Return the files at ``paths`` of the repository.

    Raises:
        UsageError: one cannot be downloaded, or nobody is trusted.
    """
    import httpx2

    from harness.certificates import trusted

    wanted = list(paths)
    found: dict[str, bytes] = {}
    with httpx2.Client(verify=trusted(), timeout=_TIMEOUT_S, follow_redirects=True) as client:
        for number, path in enumerate(wanted):
            progress("downloading", number, len(wanted))
            try:
                answer = client.get(f"{base}/{path}")
                answer.raise_for_status()
            except httpx2.HTTPError as error:
                raise UsageError(
                    f"{base}/{path} cannot be downloaded: {error}",
                    meant="Clone the repository where you can, and name the folder: harness fetch tau2 --from FOLDER.",
                ) from error
            found[path] = answer.content
            if sum(map(len, found.values())) > MAX_BYTES:
                raise UsageError(f"{base} serves more than {MAX_BYTES:,} bytes: that is not tau2-bench")
    return found
