from collections.abc import Iterator

import pytest

from tests.fake_provider import FakeProvider
from tests.web.support import KEY, Page, a_project, script, served


@pytest.fixture(scope="session")
def provider() -> Iterator[FakeProvider]:
    with FakeProvider(script, require_key=KEY) as found:
        yield found


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory, provider: FakeProvider) -> Iterator[Page]:
    project = a_project(tmp_path_factory.mktemp("page"), provider)
    with served(project, "--at-once", "4", "--queue", "4", "--heartbeat", "0.3") as found:
        yield found
