"""The recipes for Slurm and Kubernetes, with programs in place of harness and of the cluster.

Clusters are no part of the tests: what a cluster sets is set here, and what it starts is run.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from docs.site.pages import ROOT

SAYS_ITS_ARGUMENTS = '#!/bin/sh\necho "$@" "$RAY_ADDRESS"\nexit ${CODE:-0}\n'
RECIPES = ROOT / "docs" / "examples" / "cluster"
WITH_RAY, PART, MERGE = (
    (RECIPES / name).read_text("utf-8") for name in ("ray.sh", "part.sh", "merge.sh")
)


@pytest.fixture
def bin_folder(tmp_path: Path) -> Path:
    folder = tmp_path / "bin"
    folder.mkdir()
    program(folder, "harness", SAYS_ITS_ARGUMENTS)
    (folder / "python").symlink_to(sys.executable)
    return folder


def program(folder: Path, name: str, text: str) -> None:
    (folder / name).write_text(text)
    (folder / name).chmod(0o755)


def run(
    bin_folder: Path, command: list[str], **environ: str | int
) -> subprocess.CompletedProcess[str]:
    path = f"{bin_folder}{os.pathsep}{os.environ['PATH']}"
    settings = {"PATH": path, **{name: str(value) for name, value in environ.items()}}
    return subprocess.run(
        command, env=settings, cwd=bin_folder.parent, text=True, capture_output=True, check=False
    )


def document(kind: str) -> Any:
    return yaml.safe_load((RECIPES / f"{kind.lower()}.yml").read_text("utf-8"))


@pytest.mark.parametrize("code", [0, 1])
def test_a_slurm_job_ends_as_harness_on_its_own_port(bin_folder: Path, code: int) -> None:
    program(bin_folder, "srun", '#!/bin/sh\n[ "$1" != --nodes=1 ] || echo "10.0.0.7 STREAM n1"\n')
    program(bin_folder, "timeout", "#!/bin/sh\n")
    script = ["bash", "-c", WITH_RAY, "evals.sh", "shop", "-q"]
    slurm: dict[str, str | int] = {
        "SLURM_JOB_ID": 120042,
        "SLURM_JOB_NUM_NODES": 4,
        "SLURM_CPUS_PER_TASK": 16,
        "SLURMD_NODENAME": "n1",
    }
    ended = run(bin_folder, script, CODE=code, **slurm)
    assert (ended.returncode, ended.stderr) == (code, "")
    assert ended.stdout == "evals shop -q --engine ray:auto -c 64 10.0.0.7:20042\n"


def test_a_slurm_job_whose_nodes_do_not_come_fails(bin_folder: Path) -> None:
    program(bin_folder, "srun", "#!/bin/sh\necho 10.0.0.7\n")
    program(bin_folder, "timeout", "#!/bin/sh\nexit 137\n")
    slurm = {"SLURM_JOB_ID": 1, "SLURM_JOB_NUM_NODES": 4, "SLURM_CPUS_PER_TASK": 1}
    ended = run(bin_folder, ["bash", "-c", WITH_RAY], SLURMD_NODENAME="n1", **slurm)
    assert ended.returncode == 137
    assert "evals" not in ended.stdout


def test_a_part_of_a_slurm_array_ends_as_harness(bin_folder: Path) -> None:
    slurm = {"SLURM_ARRAY_TASK_ID": 3, "SLURM_ARRAY_TASK_COUNT": 8, "SLURM_ARRAY_JOB_ID": 18}
    ended = run(bin_folder, ["bash", "-c", PART], CODE=1, **slurm)
    assert ended.returncode == 1
    assert ended.stdout.strip() == "evals shop --shard 3/8 --report json:parts/18/3.json"


def test_the_parts_of_a_slurm_array_are_merged_by_their_logs(bin_folder: Path) -> None:
    for number in (1, 2):
        report = {"result": {"log": f".harness/runs/{number}/log.jsonl"}}
        (bin_folder.parent / f"{number}.json").write_text(json.dumps(report))
    script = ["bash", "-c", MERGE, "merge.sh", "1.json", "2.json"]
    ended = run(bin_folder, script, CODE=1)
    assert ended.returncode == 1
    assert ended.stdout.strip() == (
        "merge .harness/runs/1/log.jsonl .harness/runs/2/log.jsonl --report junit:evals.xml"
    )


def test_the_pods_of_a_job_run_every_part_once_and_never_fail_for_a_case(bin_folder: Path) -> None:
    job = document("Job")["spec"]
    (pod,) = job["template"]["spec"]["containers"]
    count = job["completions"]
    ended = [
        run(bin_folder, pod["command"], JOB_COMPLETION_INDEX=index, CODE=1)
        for index in range(count)
    ]
    assert {one.returncode for one in ended} == {0}
    assert [one.stdout.strip() for one in ended] == [
        f"evals shop --shard {index + 1}/{count}" for index in range(count)
    ]


def test_a_ray_job_ends_as_harness(bin_folder: Path) -> None:
    entrypoint = document("RayJob")["spec"]["entrypoint"].replace("/project", ".")
    ended = run(bin_folder, ["sh", "-c", entrypoint], CODE=1)
    assert ended.returncode == 1
    assert ended.stdout.strip() == "evals shop --engine ray:auto -c 64 --report junit"


@pytest.mark.parametrize("kind", ["Job", "RayJob"])
def test_what_a_container_mounts_is_a_volume_of_its_pod(kind: str) -> None:
    spec = document(kind)["spec"]
    pod = spec if kind == "Job" else spec["rayClusterSpec"]["headGroupSpec"]
    pod = pod["template"]["spec"]
    volumes = {volume["name"] for volume in pod["volumes"]}
    mounted = {mount["name"] for one in pod["containers"] for mount in one["volumeMounts"]}
    assert mounted == volumes
