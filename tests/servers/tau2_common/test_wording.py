import pytest

from servers.tau2_common.wording import words_of


@pytest.mark.parametrize(
    ("said", "words"),
    [
        ("unhashable type: 'list'", "unhashable type: 'list'"),
        (
            "cannot use 'list' as a dict key (unhashable type: 'list')",
            "unhashable type: 'list'",
        ),
        (
            "cannot use 'dict' as a set element (unhashable type: 'dict')",
            "unhashable type: 'dict'",
        ),
        (
            "f() got an unexpected keyword argument 'reasons'. Did you mean 'reason'?",
            "f() got an unexpected keyword argument 'reasons'",
        ),
    ],
)
def test_what_newer_versions_of_python_add_is_left_out(said: str, words: str) -> None:
    assert words_of(TypeError(said)) == words


def test_the_words_of_other_errors_are_their_own() -> None:
    said = "cannot use 'list' as a dict key (unhashable type: 'list')"
    assert words_of(ValueError(said)) == said
