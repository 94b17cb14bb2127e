"""Names, settings and keys become models."""

import re
import typing
from collections.abc import Callable
from pathlib import Path

import genai_prices
import pytest
from anthropic.types.model import Model as AnthropicModel

from harness.base.errors import InvalidInput, UsageError
from harness.models.model import list_built_in_providers
from harness.models.providers.anthropic import api_id
from harness.suites.config import Config, load_config

Configure = Callable[..., Config]


@pytest.fixture
def configure(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Configure:
    """Return a function that makes the configuration of a ``harness.yml`` whose models are the
    given text.
    """
    monkeypatch.chdir(tmp_path)

    def make(models: str = "{}", **environ: str) -> Config:
        (tmp_path / "harness.yml").write_text(f"models:\n  models:\n{models}")
        return load_config(tmp_path, environ)

    return make


# ── Without configuration ────────────────────────────────────────────────────────────────────


def test_lexical_needs_no_configuration_and_no_key() -> None:
    model = Config().resolve_model("lexical")
    assert (model.provider, model.model_id, model.api_key) == ("lexical", "lexical", None)


@pytest.mark.parametrize(
    ("name", "provider", "model_id", "variable"),
    [
        ("anthropic:claude-sonnet-4-5", "anthropic", "claude-sonnet-4-5", "ANTHROPIC_API_KEY"),
        ("claude:claude-sonnet-4-5", "anthropic", "claude-sonnet-4-5", "ANTHROPIC_API_KEY"),
        ("openai:gpt-4o", "openai", "gpt-4o", "OPENAI_API_KEY"),
        ("openai:my-own-tune", "openai", "my-own-tune", "OPENAI_API_KEY"),
        ("claude-sonnet-4-5", "anthropic", "claude-sonnet-4-5", "ANTHROPIC_API_KEY"),
        ("gpt-4o", "openai", "gpt-4o", "OPENAI_API_KEY"),
        ("o3-mini", "openai", "o3-mini", "OPENAI_API_KEY"),
        ("ft:gpt-4o:me::1", "openai", "ft:gpt-4o:me::1", "OPENAI_API_KEY"),
    ],
)
def test_a_known_name_or_provider_and_model_works_from_the_usual_key(
    name: str, provider: str, model_id: str, variable: str
) -> None:
    model = Config(environ={variable: "the-key"}).resolve_model(name)
    assert (model.name, model.provider, model.model_id) == (name, provider, model_id)
    assert model.api_key is not None
    assert model.api_key.reveal() == "the-key"
    assert model.sources["api_key"] == f"${variable}"
    assert model.notes == ()


def test_a_provider_that_is_not_known_here_needs_no_key() -> None:
    model = Config().resolve_model("replay:runs/1:2")
    assert (model.provider, model.model_id, model.api_key) == ("replay", "runs/1:2", None)


def test_a_missing_key_names_the_variable_and_the_offline_model() -> None:
    with pytest.raises(UsageError) as raised:
        Config().resolve_model("gpt-4o")
    assert "OPENAI_API_KEY is not set" in str(raised.value)
    assert "--model lexical" in str(raised.value)


def test_an_empty_key_counts_as_missing() -> None:
    with pytest.raises(UsageError, match="OPENAI_API_KEY is not set"):
        Config(environ={"OPENAI_API_KEY": ""}).resolve_model("gpt-4o")


def test_the_environment_may_name_another_endpoint_and_its_key_goes_there() -> None:
    environ = {"OPENAI_BASE_URL": "http://127.0.0.1:9/v1", "OPENAI_API_KEY": "the-key"}
    model = Config(environ=environ).resolve_model("gpt-4o")
    assert model.base_url == "http://127.0.0.1:9/v1"
    assert model.api_key is not None
    assert model.sources["base_url"] == "$OPENAI_BASE_URL"


def test_an_endpoint_of_the_environment_needs_no_key() -> None:
    assert (
        Config(environ={"ANTHROPIC_BASE_URL": "http://127.0.0.1:9"})
        .resolve_model("claude-sonnet-4-5")
        .api_key
        is None
    )


def test_an_unknown_name_is_answered_with_the_nearest_and_how_to_write_one() -> None:
    with pytest.raises(UsageError) as raised:
        Config().resolve_model("lexcal")
    assert "there is no model named 'lexcal'" in str(raised.value)
    assert "Did you mean 'lexical'?" in str(raised.value)
    assert "provider:model" in str(raised.value)


@pytest.mark.parametrize("name", ["", ":", "openai:", ":gpt-4o", "llama"])
def test_a_name_without_provider_or_model_is_unknown(name: str) -> None:
    with pytest.raises(UsageError, match="there is no model named"):
        Config().resolve_model(name)


@pytest.mark.parametrize(
    "url", ["http://x:99999/", "http://x:0/v1", "http://x:port/", "http://:80/"]
)
def test_an_endpoint_without_a_host_or_a_port_that_exists_is_refused(url: str) -> None:
    with pytest.raises(UsageError, match="base_url looks like"):
        Config(environ={"OPENAI_BASE_URL": url, "OPENAI_API_KEY": "k"}).resolve_model("gpt-4o")


# ── Names people use ─────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("name", "model_id"),
    [
        ("claude-4-sonnet", "claude-sonnet-4-6"),
        ("claude-4-opus", "claude-opus-4-8"),
        ("claude-3-opus", "claude-opus-4-8"),
        ("claude-3.5-sonnet", "claude-sonnet-4-6"),
        ("claude-4.5-sonnet", "claude-sonnet-4-5"),
        ("claude-4-5-haiku", "claude-haiku-4-5"),
    ],
)
def test_a_name_in_wide_use_resolves_to_an_id_of_the_api_and_says_which(
    name: str, model_id: str
) -> None:
    for asked in (name, f"anthropic:{name}"):
        model = Config(environ={"ANTHROPIC_API_KEY": "k"}).resolve_model(asked)
        assert model.model_id == model_id
        [note] = model.notes
        assert name in note
        assert model_id in note


def test_every_name_on_offer_is_an_id_that_sdk_and_price_table_know() -> None:
    listed = set(typing.get_args(typing.get_args(AnthropicModel)[0]))
    offered = [
        (provider, traits.service.api_id(name)[0])
        for provider, traits in list_built_in_providers().items()
        if traits.service
        for name in traits.service.well_known
    ]
    assert len(offered) > 10
    for provider, model_id in offered:
        assert Config(environ={}, keyless=True).resolve_model(model_id).provider == provider
        assert provider != "anthropic" or model_id in listed, model_id
        usage = genai_prices.Usage(input_tokens=1, output_tokens=1)
        assert genai_prices.calc_price(usage, model_id, provider_id=provider).total_price > 0


@pytest.mark.parametrize(
    "name", ["claude-2.1", "claude-2.0", "claude-instant-1.2", "claude-opus-4-8", "claude-next.1"]
)
def test_a_dot_that_belongs_to_an_id_stays(name: str) -> None:
    assert api_id(name) == (name, None)


@pytest.mark.parametrize(
    ("name", "model_id"),
    [
        ("claude-sonnet-4.5", "claude-sonnet-4-5"),
        ("claude-3.5-sonnet-20241022", "claude-3-5-sonnet-20241022"),
    ],
)
def test_a_dot_that_no_id_has_becomes_a_dash(name: str, model_id: str) -> None:
    assert api_id(name) == (model_id, f"{name} is {model_id} to the API")


def test_a_name_that_never_was_one_is_left_alone_with_advice() -> None:
    name, note = api_id("claude-4-haiku")
    assert name == "claude-4-haiku"
    assert note
    assert "claude-haiku-4-5" in note


def test_an_id_that_the_api_knows_is_never_replaced() -> None:
    assert api_id("claude-sonnet-4-20250514") == ("claude-sonnet-4-20250514", None)
    assert Config(environ={}, keyless=True).resolve_model("gpt-4.1").notes == ()


# ── With configuration ───────────────────────────────────────────────────────────────────────


def test_every_setting_reaches_the_model(configure: Configure) -> None:
    config = configure(
        """
    mine:
      type: openai
      model: gpt-4.1
      api_key: ${MY_KEY}
      base_url: https://${HOST}/v1
      timeout: 12
      max_retries: 0
      api: responses
      temperature: 0
      max_tokens: 100
      headers: {X-Team: "${TEAM:-evals}"}
      body: {seed: 7}
      input_price: 1
      output_price: 2.5
""",
        MY_KEY="the-key",
        HOST="gateway.example",
    )
    model = config.resolve_model("mine")
    assert (model.provider, model.model_id, model.base_url) == (
        "openai",
        "gpt-4.1",
        "https://gateway.example/v1",
    )
    assert (model.timeout_s, model.max_retries, model.api) == (12.0, 0, "responses")
    assert (model.temperature, model.max_tokens) == (0.0, 100)
    assert (model.headers, model.body) == ({"X-Team": "evals"}, {"seed": 7})
    assert (model.input_price, model.output_price) == (1.0, 2.5)
    assert model.api_key is not None
    assert model.api_key.reveal() == "the-key"


def test_each_setting_says_where_it_came_from_and_the_key_only_by_its_variable(
    configure: Configure,
) -> None:
    config = configure(
        "    gpt-4o:\n      type: openai\n      api_key: ${MY_KEY}\n      timeout: 12\n",
        MY_KEY="shh",
    )
    sources = config.resolve_model("gpt-4o").sources
    assert sources == {
        "type": "harness.yml:4",
        "model": "its name",
        "api_key": "$MY_KEY",
        "timeout": "harness.yml:6",
    }


def test_a_key_written_out_is_nowhere_to_be_seen(configure: Configure) -> None:
    config = configure(
        "    gpt-4o: {type: openai, api_key: sk-written-out, headers: {X: header-secret}}\n",
        V="env-secret",
    )
    shown = f"{config!r} {config.list_models()!r} {config.resolve_model('gpt-4o').sources}"
    assert "sk-written-out" not in shown
    assert "env-secret" not in shown
    assert "header-secret" not in repr(config)


def test_claude_is_anthropic_and_a_configured_alias_resolves_too(configure: Configure) -> None:
    config = configure("    claude-4-sonnet: {type: claude, api_key: k}\n")
    model = config.resolve_model("claude-4-sonnet")
    assert (model.provider, model.model_id) == ("anthropic", "claude-sonnet-4-6")


def test_another_endpoint_is_asked_for_the_name_as_it_is(configure: Configure) -> None:
    config = configure("    claude-4-sonnet: {type: claude, base_url: http://localhost:4000}\n")
    model = config.resolve_model("claude-4-sonnet")
    assert (model.model_id, model.notes) == ("claude-4-sonnet", ())


def test_a_configured_model_needs_no_api_key_line_where_the_usual_variable_is_set(
    configure: Configure,
) -> None:
    config = configure(
        "    gpt-4o: {type: openai, base_url: 'https://api.openai.com/v1'}\n",
        OPENAI_API_KEY="the-key",
    )
    model = config.resolve_model("gpt-4o")
    assert model.api_key is not None
    assert model.sources["api_key"] == "$OPENAI_API_KEY"


@pytest.mark.parametrize(
    "url",
    [
        "http://localhost:11434/v1",
        "https://gateway.example/v1",
        "https://api.openai.com.evil.example",
    ],
)
def test_the_usual_key_is_never_sent_to_an_endpoint_that_a_file_names(
    configure: Configure, url: str
) -> None:
    config = configure(
        f"    local: {{type: openai, base_url: '{url}'}}\n", OPENAI_API_KEY="the-key"
    )
    assert config.resolve_model("local").api_key is None


def test_the_provider_itself_is_told_from_a_host_of_a_similar_name(configure: Configure) -> None:
    for host, sent in (("eu.api.openai.com", True), ("notapi.openai.com", False)):
        config = configure(
            f"    m: {{type: openai, base_url: 'https://{host}/v1'}}\n", OPENAI_API_KEY="k"
        )
        assert (config.resolve_model("m").api_key is not None) == sent


def test_a_header_that_authorises_takes_the_place_of_a_key(configure: Configure) -> None:
    config = configure("    m: {type: openai, headers: {authorization: Bearer x}}\n")
    assert config.resolve_model("m").api_key is None


def test_a_configured_key_that_comes_to_nothing_counts_as_missing(configure: Configure) -> None:
    for written in ("${MY_KEY}", "${OTHER:-}", ""):
        config = configure(f"    gpt-4o: {{type: openai, api_key: '{written}'}}\n", MY_KEY="")
        with pytest.raises(InvalidInput, match="an API key is needed"):
            config.resolve_model("gpt-4o")


def test_an_unset_variable_is_an_error_when_the_model_is_used_and_not_before(
    configure: Configure,
) -> None:
    config = configure(
        "    gpt-4o: {type: openai}\n    mine:\n      type: openai\n      base_url: "
        "http://${HOST}/v1\n"
    )
    with pytest.raises(
        InvalidInput,
        match=re.escape("harness.yml:6:17: model 'mine': the environment variable HOST"),
    ):
        config.resolve_model("mine")


def test_the_variable_of_a_missing_key_is_named_with_its_place(configure: Configure) -> None:
    config = configure("    gpt-4o:\n      type: openai\n      api_key: ${MY_KEY}\n")
    with pytest.raises(InvalidInput) as raised:
        config.resolve_model("gpt-4o")
    assert "harness.yml:5:16: model 'gpt-4o': an API key is needed, and MY_KEY is not set." in str(
        raised.value
    )
    assert "--model lexical" in str(raised.value)


def test_all_that_is_missing_is_told_at_once(configure: Configure) -> None:
    config = configure(
        "    m: {type: openai, api_key: '${A}', base_url: 'http://${B}', headers: {X: '${C}'}}\n"
    )
    with pytest.raises(InvalidInput) as raised:
        config.resolve_model("m")
    assert len(raised.value.problems) == 3


def test_a_key_kept_in_a_vault_is_not_taken_for_the_key_itself(configure: Configure) -> None:
    config = configure("    gpt-4o: {type: openai, api_key: 'vault://secret/llm#key'}\n")
    with pytest.raises(InvalidInput, match="does not fetch keys"):
        config.resolve_model("gpt-4o")


def test_a_base_url_without_scheme_is_an_error(configure: Configure) -> None:
    for url in ("localhost:11434/v1", "ftp://x", "http://", "http://["):
        config = configure(f"    m: {{type: openai, base_url: '{url}'}}\n")
        with pytest.raises(InvalidInput, match="base_url looks like"):
            config.resolve_model("m")


def test_options_become_settings_headers_and_body(configure: Configure) -> None:
    config = configure(
        """
    gpt-5:
      type: openai
      api_key: k
      max_tokens: 5
      options:
        api: responses
        max_tokens: 9
        top_p: 0.5
        body:reasoning: {effort: medium}
        header:X-Beta: [a, "${B}"]
""",
        B="b",
    )
    model = config.resolve_model("gpt-5")
    assert (model.api, model.max_tokens) == ("responses", 5)
    assert model.body == {"top_p": 0.5, "reasoning": {"effort": "medium"}}
    assert model.headers == {"X-Beta": "a, b"}
    assert model.sources["api"] == "harness.yml:9"


def test_a_wrong_option_is_told_with_its_place(configure: Configure) -> None:
    with pytest.raises(
        InvalidInput,
        match=re.escape("harness.yml:6:18: model 'm': timeout: expected a number of sec"),
    ):
        configure("    m:\n      type: openai\n      options:\n        timeout: soon\n")


def test_the_listing_shows_what_is_usable_and_what_is_not_without_raising(
    configure: Configure,
) -> None:
    config = configure(
        "    a: {type: openai, api_key: '${A}'}\n    b: {type: openai, api_key: '${B}'}\n"
        "    c: {type: openai, base_url: 'http://localhost:1'}\n",
        A="k",
    )
    listed = {
        model.spec.name: (model.key, model.source, model.error is None)
        for model in config.list_models()
    }
    assert listed == {
        "a": ("present", "harness.yml", True),
        "b": ("missing", "harness.yml", False),
        "c": ("not needed", "harness.yml", True),
        "lexical": ("not needed", "built in", True),
    }
