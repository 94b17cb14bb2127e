"""What is known of a provider without its SDK is used wherever somebody asks."""

from __future__ import annotations

from importlib.metadata import EntryPoint
from types import SimpleNamespace
from typing import Any

import pytest

from harness.base.errors import UsageError
from harness.models.model import (
    PROVIDERS,
    Provider,
    Service,
    get_traits,
    list_built_in_providers,
    open_model,
    unknown_provider,
)
from harness.models.pricing import list_price
from harness.suites.config import Config
from harness.types import ModelSpec


@pytest.fixture
def plugged_in(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Return a function that adds a provider as an installed package would."""

    def plug_in(name: str, value: str) -> None:
        point = EntryPoint(name=name, value=value, group=PROVIDERS.group)
        monkeypatch.setitem(PROVIDERS.__dict__, "_entry_points", {name: point})

    yield plug_in
    PROVIDERS.__dict__["_loaded"].pop("acme", None)


def acme(**settings: Any) -> ModelSpec:
    return ModelSpec(name="mine", provider="acme", model_id="large", **settings)


def open_acme(_spec: ModelSpec) -> Any:
    return SimpleNamespace()


ACME = Provider(opens=open_acme, prices={"large": (2.0, 8.0)})


def test_a_provider_has_prices_of_its_own_unless_the_configuration_says_otherwise(
    plugged_in: Any,
) -> None:
    plugged_in("acme", "tests.models.test_traits:ACME")
    assert list_price(acme(), 1_000_000, 500_000) == 6.0
    assert list_price(acme(input_price=1.0, output_price=1.0), 1_000_000, 0) == 1.0


def test_a_package_may_name_just_what_opens_its_models(plugged_in: Any) -> None:
    plugged_in("acme", "tests.models.test_traits:open_acme")
    assert get_traits("acme").answers == "llm"
    assert isinstance(open_model(acme()), SimpleNamespace)


def test_a_package_that_cannot_be_imported_is_told_with_the_model_and_breaks_nothing_else(
    plugged_in: Any,
) -> None:
    plugged_in("acme", "no_such_package:PROVIDER")
    told = unknown_provider(acme(sources={"type": "harness.yml:3"}))
    assert str(told).startswith("harness.yml:3: model 'mine': provider 'acme'")
    assert "No module named 'no_such_package'" in str(told)
    assert get_traits("acme").service is None
    assert Config(environ={}, keyless=True).resolve_model("gpt-4o").provider == "openai"


def test_a_recording_cannot_be_asked_anything() -> None:
    with pytest.raises(UsageError, match="is a recording"):
        open_model(ModelSpec(name="theirs", provider="recorded", model_id="file"))


@pytest.mark.parametrize("name", list_built_in_providers())
def test_only_language_models_have_a_service_and_a_dialect(name: str) -> None:
    traits = get_traits(name)
    assert (traits.service is not None) == (traits.dialect is not None) == (traits.answers == "llm")


@pytest.mark.parametrize(
    ("base_url", "own"),
    [
        (None, True),
        ("https://API.acme.example/v2", True),
        ("https://eu.api.acme.example/v1", True),
        ("https://api.acme.example.org/v1", False),
        ("https://notapi.acme.example/v1", False),
        ("https://[", False),
    ],
)
def test_a_service_owns_its_host_and_what_lies_below_it(base_url: str | None, own: bool) -> None:
    service = Service(
        url="https://api.acme.example/v1",
        key_variable="ACME_KEY",
        base_url_variable="ACME_URL",
        ids=get_traits("openai").service.ids,  # type: ignore[union-attr]
    )
    assert service.is_own_url(base_url) is own
