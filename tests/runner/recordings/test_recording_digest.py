"""Whether two models repeat the same: by what a recording holds, wherever it lies."""

from __future__ import annotations

from pathlib import Path

from harness.runner.recordings.recording_digest import digest_recording
from harness.types import ModelSpec


def a_replay(path: Path) -> ModelSpec:
    return ModelSpec(name="m", provider="replay", model_id=str(path))


def test_a_recording_is_the_same_by_its_content_and_not_its_path(tmp_path: Path) -> None:
    one, other = tmp_path / "one.jsonl", tmp_path / "other.jsonl"
    one.write_text("what was said", "utf-8")
    other.write_text("what was said", "utf-8")
    first = digest_recording(a_replay(one))
    assert first == digest_recording(a_replay(other)) is not None
    one.write_text("what else was said", "utf-8")
    assert digest_recording(a_replay(one)) != first


def test_recorded_outputs_are_those_of_a_model_and_of_all_files_of_a_folder(tmp_path: Path) -> None:
    for name in "ab":
        (tmp_path / name).mkdir()
        (tmp_path / name / "outputs.json").write_text("[]", "utf-8")

    def digest(name: str, entrant: str = "m") -> str | None:
        model_id = f"bfcl:{tmp_path / name}#{entrant}"
        return digest_recording(ModelSpec(name="m", provider="recorded", model_id=model_id))

    first = digest("a")
    assert first == digest("b") is not None
    assert digest("a", "n") != first
    (tmp_path / "a" / "more.json").write_text("[]", "utf-8")
    assert digest("a") != first


def test_what_is_no_recording_or_is_gone_has_no_digest(tmp_path: Path) -> None:
    assert digest_recording(ModelSpec(name="m", provider="lexical", model_id="lexical")) is None
    assert digest_recording(a_replay(tmp_path / "gone.jsonl")) is None
    gone = ModelSpec(name="m", provider="recorded", model_id=f"bfcl:{tmp_path / 'gone'}#m")
    assert digest_recording(gone) is None
