"""The two sets of data: what a server is started with, and declarations that cannot work."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.base.errors import InvalidInput, UsageError
from harness.base.trust import GATE
from harness.probing.callers import ProbeCaller
from harness.probing.interference.data_sets import (
    check_alterations,
    expand_alterations,
    set_server_data,
)
from harness.types import (
    Alteration,
    DataSet,
    IdentitySpec,
    Location,
    ScriptedCall,
    ServerSpec,
    TransportSpec,
)

CALLERS = (
    ProbeCaller(name="admin", user_context={"role": "admin"}),
    ProbeCaller(name="clerk", user_context={"role": "clerk"}),
)
STARTED = ServerSpec(name="desk", transport=TransportSpec(command="python", args=("desk.py",)))
RUNNING = ServerSpec(
    name="desk", transport=TransportSpec(kind="http", url="http://127.0.0.1:9/mcp")
)
BY_ENVIRONMENT = ServerSpec(
    name="desk",
    transport=TransportSpec(command="python"),
    identity=IdentitySpec(via="env", plain={"json_variable": "USER_CONTEXT"}),
)
SET = ScriptedCall(tool="set_salary")
RESTORE = ScriptedCall(tool="restore")


def alteration(b: DataSet, a: DataSet | None = None, **more: object) -> Alteration:
    at = Location(file="evals/people.yml", line=6, column=5)
    return Alteration(field="salary", a=a or DataSet(), b=b, at=at, **more)  # type: ignore[arg-type]


ARGS, CALL = DataSet(args=("--other",)), DataSet(setup=(SET,))


@pytest.mark.parametrize(
    ("one", "server", "told"),
    [
        (alteration(ARGS, withheld_from=("clark",)), STARTED, "Did you mean 'clerk'?"),
        (alteration(CALL, setup_as="boss"), STARTED, "no identity 'boss'"),
        (alteration(CALL), BY_ENVIRONMENT, "one of them alone"),
        (alteration(ARGS), RUNNING, "a server that is already running"),
        (alteration(CALL), RUNNING, "nothing brings the data back"),
    ],
)
def test_a_declaration_that_cannot_work_is_refused_with_its_place(
    one: Alteration, server: ServerSpec, told: str
) -> None:
    with pytest.raises(InvalidInput) as caught:
        check_alterations([one], server, CALLERS)
    assert told in str(caught.value)
    assert "evals/people.yml:6:5" in str(caught.value)


@pytest.mark.parametrize(
    ("one", "server"),
    [
        (alteration(ARGS, withheld_from=("clerk",)), STARTED),
        (alteration(CALL, setup_as="admin"), STARTED),
        (alteration(ARGS), BY_ENVIRONMENT),
        (alteration(CALL, DataSet(setup=(RESTORE,))), RUNNING),
        (alteration(CALL), ServerSpec(name="desk", transport=RUNNING.transport, reset=RESTORE)),
    ],
)
def test_a_declaration_that_works_is_accepted(one: Alteration, server: ServerSpec) -> None:
    check_alterations([one], server, CALLERS)


def test_a_server_keeps_its_own_settings_under_those_of_the_data() -> None:
    own = ServerSpec(
        name="desk",
        transport=TransportSpec(command="python", args=("desk.py",), env={"A": "1", "B": "1"}),
        isolation="case",
    )
    changed = set_server_data(own, DataSet(args=("--other",), env={"B": "2"}))
    assert changed.transport.args == ("desk.py", "--other")
    assert changed.transport.env == {"A": "1", "B": "2"}
    assert changed.isolation == "none"


def test_references_are_replaced_and_one_without_a_value_is_an_error() -> None:
    one = alteration(DataSet(env={"SEED": "${SEED}"}, args=("${WHERE:-here}",)))
    (ready,) = expand_alterations([one], {"SEED": "7"})
    assert (ready.b.env, ready.b.args) == ({"SEED": "7"}, ("here",))
    with pytest.raises(InvalidInput) as caught:
        expand_alterations([one], {})
    assert "people.yml:6:5" in str(caught.value)
    assert "SEED is not set" in str(caught.value)


def test_other_data_of_a_strangers_suite_start_nothing_without_consent(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / ".git" / "logs").mkdir(parents=True)
    line = f"{'0' * 40} {'1' * 40} A <a@example.com> 0 +0000\tclone: from https://example.com/x\n"
    (tmp_path / ".git" / "logs" / "HEAD").write_text(line)
    suite = tmp_path / "people.yml"
    suite.touch()
    monkeypatch.setattr(GATE, "environ", {"HOME": str(tmp_path / "home")})
    one = Alteration(
        field="salary",
        a=DataSet(),
        b=DataSet(env={"PYTHONSTARTUP": "evil.py"}),
        at=Location(file=str(suite), line=1, column=1),
    )
    with pytest.raises(UsageError) as caught:
        check_alterations([one], STARTED, CALLERS)
    assert "start desk with PYTHONSTARTUP=evil.py" in str(caught.value)
