"""The files that one case crosses from the command line to the console, as Python itself sees it.

The case is run by the source that is measured, with the model `lexical`, in a process of its own.
A file counts once a function of it is entered; what only runs because a module is imported does
not count, and neither does what the server does, which is another process.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

_SUITE = """\
suite: governance
server: data_governance
tests:
- name: viewing_changes_nothing
  user_context: {role: admin, permissions: []}
  prompt: Please show me the record of customer CUST_00019. In which city do they live?
  assertions:
    must_call: get_customer_details
    answer_contains: New York
"""
_COMMAND = ("evals", "governance.yml", "--model", "lexical")
_PROFILED = """
import json, sys, threading
folder, to, *arguments = sys.argv[1:]
files = set()
importing = threading.local()

def note(frame, event, _):
    code = frame.f_code
    if code.co_name == "<module>" and event in ("call", "return"):
        importing.depth = getattr(importing, "depth", 0) + (1 if event == "call" else -1)
    elif event == "call" and not getattr(importing, "depth", 0):
        if code.co_filename.startswith(folder):
            files.add(code.co_filename)

sys.argv = ["harness", *arguments]
from harness.entry import main
threading.setprofile(note)
sys.setprofile(note)
try:
    main()
except SystemExit as end:
    code = end.code
finally:
    sys.setprofile(None)
with open(to, "w", encoding="utf-8") as report:
    json.dump([code, sorted(name.removeprefix(folder) for name in files)], report)
"""


def list_crossed_files(checkout: Path, scratch: Path) -> list[str]:
    """Run one case with the source in ``checkout``; return the files of ``harness/`` it entered.

    Raises:
        RuntimeError: the case did not pass.
    """
    (scratch / "governance.yml").write_text(_SUITE, "utf-8")
    report = scratch / "crossed.json"
    env = {**os.environ, "PYTHONPATH": str(checkout)}
    command = [sys.executable, "-c", _PROFILED, f"{checkout}/harness/", str(report), *_COMMAND]
    done = subprocess.run(
        command, cwd=scratch, env=env, capture_output=True, text=True, check=False, timeout=300
    )
    if not report.exists():
        raise RuntimeError(f"the case could not be run: {done.stderr[-2000:]}")
    code, files = json.loads(report.read_text("utf-8"))
    if code:
        raise RuntimeError(f"the case did not pass: {done.stdout[-1000:]}{done.stderr[-2000:]}")
    return list(files)
