"""A misspelt tool in a dataset is the row's mistake, told before a model is asked anything."""

from tests.fake_provider import FakeProvider
from tests.web.support import Page, dataset


def test_a_misspelt_tool_in_an_upload_is_an_error_of_its_row_before_anything_is_asked(
    page: Page, provider: FakeProvider
) -> None:
    asked = len(provider.journal)
    text = dataset(["Say seven."]) + '2,"Say seven.","ehco","{}",""\r\n'
    text += '3,"Say seven.","[""echo"", ""eco""]","[{}, {}]",""\r\n'
    run = page.begin(text)
    (*_, last) = page.events(run)
    assert last.name == "error"
    assert [(one["line"], one["message"]) for one in last.data["problems"]] == [
        (3, "the server 'plain' offers no tool 'ehco'."),
        (4, "the server 'plain' offers no tool 'eco'."),
    ]
    assert "Did you mean 'echo'?" in last.data["problems"][0]["meant"]
    assert len(provider.journal) == asked
    assert page.client.get(f"/evaluations/{run}").json()["state"] == "refused"
