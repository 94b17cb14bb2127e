"""Which files are read, what they may say, and which of them decides."""

import re
from pathlib import Path

import pytest

from harness.base.errors import InvalidInput
from harness.suites.config import Config, load_config


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return an empty project folder, entered, beside an empty home folder."""
    (tmp_path / "home").mkdir()
    folder = tmp_path / "project"
    folder.mkdir()
    monkeypatch.chdir(folder)
    return folder


def write(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def load(project: Path, **environ: str) -> Config:
    return load_config(project, {"HOME": str(project.parent / "home"), **environ})


def default(name: str) -> str:
    return f"models: {{default: {name}}}\n"


# ── Which file ───────────────────────────────────────────────────────────────────────────────


def test_nothing_configured_is_a_configuration_too(project: Path) -> None:
    config = load(project)
    assert (config.files, config.default_model, config.concurrency, config.timeout_s) == (
        (),
        None,
        None,
        None,
    )
    assert [model.spec.name for model in config.list_models()] == ["lexical"]


def test_the_project_goes_before_the_user_and_the_user_before_mxcp(project: Path) -> None:
    home = project.parent / "home"
    write(home / ".mxcp" / "config.yml", default("theirs"))
    assert load(project).default_model == "theirs"
    write(home / ".harness" / "config.yml", default("users"))
    assert load(project).default_model == "users"
    write(project / "harness.yml", default("projects"))
    assert load(project).default_model == "projects"
    assert len(load(project).files) == 3


def test_the_first_file_that_configures_a_model_decides_all_of_it(project: Path) -> None:
    home = project.parent / "home"
    write(
        home / ".harness" / "config.yml",
        "models: {models: {m: {type: openai, api_key: users-key, timeout: 9}}}",
    )
    write(
        project / "harness.yml",
        "models: {models: {m: {type: openai, base_url: 'http://elsewhere.example'}}}",
    )
    model = load(project).resolve_model("m")
    assert (model.base_url, model.api_key, model.timeout_s) == (
        "http://elsewhere.example",
        None,
        60.0,
    )


def test_a_variable_names_another_file_instead_of_the_one_in_the_home_folder(project: Path) -> None:
    home = project.parent / "home"
    write(home / ".harness" / "config.yml", default("at-home"))
    write(home / ".mxcp" / "config.yml", "models: {models: {at-home: {type: openai}}}")
    ours = write(project.parent / "ours.yml", default("named"))
    theirs = write(project.parent / "theirs.yml", "models: {models: {named: {type: openai}}}")
    config = load(project, HARNESS_CONFIG=str(ours), MXCP_CONFIG=str(theirs))
    assert config.default_model == "named"
    assert [model.spec.name for model in config.list_models()] == ["named", "lexical"]


@pytest.mark.parametrize("variable", ["HARNESS_CONFIG", "MXCP_CONFIG"])
def test_a_variable_that_names_no_file_is_an_error(project: Path, variable: str) -> None:
    with pytest.raises(
        InvalidInput, match=rf"/nowhere\.yml: there is no such file; \${variable} names it"
    ):
        load(project, **{variable: "/nowhere.yml"})


def test_both_endings_are_read_and_having_both_is_an_error(project: Path) -> None:
    write(project / "harness.yaml", default("m"))
    assert load(project).default_model == "m"
    write(project / "harness.yml", default("n"))
    with pytest.raises(InvalidInput, match=r"both harness\.yml and harness\.yaml"):
        load(project)


def test_within_a_repository_parents_are_searched_up_to_its_root(project: Path) -> None:
    deep = project / "a" / "b"
    deep.mkdir(parents=True)
    (project / ".git").mkdir()
    write(project.parent / "harness.yml", default("outside"))
    assert load_config(deep, {}).default_model is None
    write(project / "harness.yml", default("root"))
    assert load_config(deep, {}).default_model == "root"
    write(project / "a" / "harness.yml", default("nearer"))
    assert load_config(deep, {}).default_model == "nearer"


def test_outside_of_a_repository_no_parent_is_read(project: Path) -> None:
    write(project.parent / "harness.yml", default("anybodys"))
    assert load(project).default_model is None


# ── Files of ours ────────────────────────────────────────────────────────────────────────────


def test_defaults_are_read(project: Path) -> None:
    write(project / "harness.yml", "mxcp: 1\ndefaults: {concurrency: 8, timeout: 90}\n")
    config = load(project)
    assert (config.concurrency, config.timeout_s) == (8, 90.0)


@pytest.mark.parametrize(
    "text", ["", "# nothing\n", "models:\nservers:\ndefaults:\n", "models: {models: }\n"]
)
def test_empty_files_and_sections_are_valid(project: Path, text: str) -> None:
    write(project / "harness.yml", text)
    assert load(project).default_model is None


@pytest.mark.parametrize("version", ["1", '"1"', "1.0", '"1.0"', '"1.0.0"'])
def test_each_way_of_writing_version_one_is_known(project: Path, version: str) -> None:
    write(project / "harness.yml", f"mxcp: {version}\n{default('m')}")
    assert load(project).default_model == "m"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("mxcp: 2\n", "harness.yml:1:7: mxcp: expected version 1 of the format, found 2."),
        (
            "modles: {}\n",
            (
                "harness.yml:1:1: unknown key 'modles' in the configuration.\n    Did you mean "
                "'models'?"
            ),
        ),
        ("projects: {}\n", "harness.yml:1:1: unknown key 'projects' in the configuration."),
        (
            "mcpServers: {}\n",
            "harness.yml:1:1: unknown key 'mcpServers' in the configuration.\n    Use 'servers:'",
        ),
        (
            "models: {defualt: m}\n",
            "harness.yml:1:10: unknown key 'defualt' in 'models'.\n    Did you mean 'default'?",
        ),
        ("models: [m]\n", "harness.yml:1:9: models: expected a mapping"),
        ("- models\n", "harness.yml:1:1: the configuration: expected a mapping"),
        (
            "defaults: {model: m}\n",
            "harness.yml:1:12: unknown key 'model' in 'defaults'.\n    Use 'default:' under",
        ),
        (
            "defaults: {concurrency: 0}\n",
            "harness.yml:1:25: concurrency: expected a whole number from 1 up, found 0.",
        ),
        ("models: {models: {m: {model: x}}}\n", "harness.yml:1:22: model 'm' has no 'type'."),
        ("models: {models: {m: }}\n", "model 'm' has no 'type'."),
        ("models: {models: {m: openai}}\n", "harness.yml:1:22: model 'm': expected a mapping"),
        (
            "models:\n  models:\n    m:\n      type: openai\n      tiemout: 3\n",
            "harness.yml:5:7: unknown key 'tiemout' in model 'm'.\n    Did you mean 'timeout'?",
        ),
        (
            "models: {models: {lexical: {type: openai}}}\n",
            "harness.yml:1:19: the model 'lexical' is built in.",
        ),
        (
            "servers: {s: {args: []}}\n",
            "harness.yml:1:14: server 's' has neither 'command' nor 'url'.",
        ),
        ("servers: {s: python}\n", "harness.yml:1:14: server 's': expected a mapping"),
        ("servers: {s: {command: x, timeout: 3}}\n", "Use 'start_timeout' or 'call_timeout'."),
        (
            "servers: {s: {command: x, env: {PORT: 80}}}\n",
            "harness.yml:1:39: env: expected text.\n    Write it in quotes.",
        ),
        (
            "models: {default: a}\nmodels: {default: b}\n",
            "harness.yml:2:1: the key 'models' is given twice",
        ),
        ("models: {default: 'a\n", "harness.yml:1:19: YAML syntax"),
    ],
)
def test_a_mistake_is_told_with_its_place_and_what_was_meant(
    project: Path, text: str, expected: str
) -> None:
    write(project / "harness.yml", text)
    with pytest.raises(InvalidInput) as raised:
        load(project)
    assert expected in str(raised.value)


def test_all_mistakes_of_a_file_are_told_at_once_in_the_order_of_the_file(project: Path) -> None:
    write(
        project / "harness.yml",
        "servers: {s: {}}\nmodels: {models: {m: {type: 1}}}\nx: 1\nmxcp: 3\n",
    )
    with pytest.raises(InvalidInput) as raised:
        load(project)
    assert [problem.at.line for problem in raised.value.problems] == [1, 2, 3, 4]


def test_no_message_shows_a_value_that_may_be_secret(project: Path) -> None:
    write(
        project / "harness.yml",
        "models: {models: {m: {type: openai, api_key: 123456789, base_url: 12345678, headers: {A: "
        "1234567}}}}\n",
    )
    with pytest.raises(InvalidInput) as raised:
        load(project)
    assert len(raised.value.problems) == 3
    assert "1234567" not in str(raised.value)


# ── The file of MXCP ─────────────────────────────────────────────────────────────────────────

THEIRS = """\
mxcp: 1
vault: {enabled: true}
projects:
  shop: {profiles: {dev: {secrets: [{name: db, type: x, parameters: {1: y}}]}}}
models:
  default: gpt-4o
  retries: 3
  models:
    gpt-4o: {type: openai, api_key: "${OPENAI_API_KEY}", base_url: https://api.openai.com/v1,
             timeout: 60, colour: red}
    claude-4-sonnet:
      type: claude
      api_key: ${ANTHROPIC_API_KEY}
      timeout: 30
      max_retries: 5
    broken: {type: openai, timeout: soon}
transport: {provider: stdio}
"""


def test_a_file_of_mxcp_is_read_as_it_is(project: Path) -> None:
    write(project.parent / "home" / ".mxcp" / "config.yml", THEIRS)
    config = load(project, OPENAI_API_KEY="o", ANTHROPIC_API_KEY="a")
    assert config.default_model == "gpt-4o"
    assert config.resolve_model("gpt-4o").timeout_s == 60.0
    claude = config.resolve_model("claude-4-sonnet")
    assert (claude.provider, claude.timeout_s, claude.max_retries) == ("anthropic", 30.0, 5)


def test_a_wrong_model_in_a_file_of_mxcp_stands_in_the_way_of_nobody_else(project: Path) -> None:
    write(project.parent / "home" / ".mxcp" / "config.yml", THEIRS)
    config = load(project, OPENAI_API_KEY="o")
    assert config.resolve_model("lexical").name == "lexical"
    with pytest.raises(
        InvalidInput, match=re.escape("config.yml:16:37: timeout: expected a number of seconds")
    ):
        config.resolve_model("broken")
    [listed] = [model for model in config.list_models() if model.spec.name == "broken"]
    assert listed.error is not None


def test_servers_are_read_only_from_files_of_ours(project: Path) -> None:
    theirs = "servers: {shop: {command: x}}\n"
    write(project.parent / "home" / ".mxcp" / "config.yml", theirs)
    assert load(project).files[0].servers == {}


def test_a_repeated_key_counts_where_models_are_configured(project: Path) -> None:
    path = project.parent / "home" / ".mxcp" / "config.yml"
    write(path, f"{THEIRS}logging: {{level: INFO, level: DEBUG}}\n")
    assert load(project).default_model == "gpt-4o"
    write(path, THEIRS.replace("  default: gpt-4o", "  default: gpt-4o\n  default: other"))
    with pytest.raises(InvalidInput, match="the key 'default' is given twice"):
        load(project)
