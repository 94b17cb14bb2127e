"""Objects by name: ``my.module:Suite``, ``my.module.Suite``, ``bench/suite.py:Suite``.

An exception in a user's code, on import or when called, becomes a message with the line of that
code.
"""

from __future__ import annotations

import importlib
import importlib.util
import os
import pkgutil
import re
import sys
import sysconfig
import traceback
from collections.abc import Callable
from importlib.machinery import PathFinder
from inspect import isclass, ismodule, unwrap
from pathlib import Path
from types import ModuleType
from typing import Any

from harness.base.documents.files import format_path
from harness.base.errors import UsageError, did_you_mean
from harness.base.trust import GATE
from harness.types import Location

_NAME = r"[^\W\d]\w*"
_DOTTED = rf"{_NAME}(?:\.{_NAME})*"
_WITH_COLON = re.compile(rf"(?:{_DOTTED}|.+\.py):{_DOTTED}")
_WITH_DOTS = re.compile(rf"{_NAME}(?:\.{_NAME})+")
_OURS = Path(__file__).parents[1]
_BUILT_IN = _OURS / "_builtin"  # suites that come with harness use it as everybody's do
_LIBRARIES = tuple(
    {sysconfig.get_path(name) for name in ("stdlib", "platstdlib", "purelib", "platlib")}
)


class NoSuchModule(UsageError):
    """There is no module for the beginning of an object's name."""


def names_a_file(text: str) -> bool:
    """Whether ``text`` names an object in a file: ``bench/suite.py:Suite``."""
    return ".py:" in text and _WITH_COLON.fullmatch(text) is not None


def may_be_reference(text: str) -> bool:
    """Whether ``text`` could be the dotted path of an object.

    A name without dot and colon cannot be one.
    """
    return _WITH_COLON.fullmatch(text) is not None or _WITH_DOTS.fullmatch(text) is not None


def import_object(reference: str) -> Any:
    """Return the object of that name; the working directory is importable, as with ``python -m``.

    Raises:
        NoSuchModule: there is no such module.
        UsageError: there is no such object in it, or it cannot be imported.
    """
    _make_importable(Path.cwd())
    if ":" not in reference:
        return _find_dotted(reference.split("."))
    home, _, path = reference.rpartition(":")
    if home.endswith(".py"):
        module = _import_file(Path(home))
    else:
        imported = _import_module(home)
        if imported is None:
            raise _no_module(home)
        module = imported
    return _get_attribute(module, path.split("."), home)


def find_reference(target: Any) -> str | None:
    """Return the name by which `import_object` finds ``target``, a class or an instance.

    ``None`` if it cannot be found by name.

    An instance can be found if it is a variable of its module, or if its class needs no arguments.
    """
    kind = target if isclass(target) else type(target)
    module = sys.modules.get(kind.__module__)
    if module is None:
        return None
    home = _find_home(module)
    if home is None:
        return None
    named = next((name for name, value in vars(module).items() if value is target), None)
    if named is not None:
        return f"{home}:{named}"
    found: Any = module
    for name in kind.__qualname__.split("."):
        found = getattr(found, name, None)
    makes_it = found is kind and (isclass(target) or kind.__init__ is object.__init__)
    return f"{home}:{kind.__qualname__}" if makes_it else None


def find_function_reference(function: Callable[..., Any]) -> str | None:
    """Return the name by which `import_object` finds ``function``; ``None`` if there is none."""
    module = sys.modules.get(getattr(function, "__module__", None) or "")
    home = None if module is None else _find_home(module)
    named = (name for name, value in vars(module).items() if value is function) if module else ()
    # An instance of a class has no name of its own, but a variable may hold it.
    path: str = getattr(function, "__qualname__", None) or next(iter(named), "")
    found: Any = module
    for name in path.split("."):
        found = getattr(found, name, None)
    return f"{home}:{path}" if home and found is function else None


def locate_function(function: Callable[..., Any]) -> Location | None:
    """Return the place of ``function`` in the source, if it is written in Python."""
    code = getattr(unwrap(function), "__code__", None)
    if code is None:
        return None
    return Location(file=format_path(Path(code.co_filename)), line=code.co_firstlineno)


def format_error(error: BaseException) -> str:
    """Return ``file:line: Kind: message`` of ``error``, with the user's own last line."""
    kind = type(error).__name__
    if isinstance(error, SyntaxError) and error.filename is not None:
        return f"{format_path(Path(error.filename))}:{error.lineno}: {kind}: {error.msg}"
    try:
        words = f"{kind}: {error}".removesuffix(": ")
    except Exception:  # noqa: BLE001 - a user's own class may raise anything here as well
        words = kind
    frame = users_frame(error)
    if frame is None:
        return words
    return f"{format_path(Path(frame.filename))}:{frame.lineno}: {words}"


def users_frame(error: BaseException) -> traceback.FrameSummary | None:
    """Return the innermost frame of the user's code, else the innermost of a library."""
    # `<string>` and `<frozen …>` are no files that a user could open.
    stack = traceback.extract_tb(error.__traceback__)
    frames = (frame for frame in stack if not frame.filename.startswith("<"))
    others = [frame for frame in frames if not _is_ours(Path(frame.filename))]
    own = [frame for frame in others if not frame.filename.startswith(_LIBRARIES)]
    return next(reversed(own or others), None)


def _is_ours(file: Path) -> bool:
    return file.is_relative_to(_OURS) and not file.is_relative_to(_BUILT_IN)


# ── Modules ──────────────────────────────────────────────────────────────────────────────────


def _make_importable(folder: Path) -> None:
    if str(folder) not in sys.path:
        sys.path.insert(0, str(folder))
    # A module that was written just now would not be found in a folder that was read before.
    importlib.invalidate_caches()


def _import_module(name: str) -> ModuleType | None:
    """Return the module of that name, or ``None`` if there is none."""
    # Installed packages are the user's own choice; code beside the suites may be a stranger's.
    beside = PathFinder.find_spec(name.partition(".")[0], [str(Path.cwd())])
    if beside is not None and beside.origin is not None and name not in sys.modules:
        GATE.require_code(Path(beside.origin))
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        # Otherwise it is a module that this one imports in its turn, which is another mistake.
        if error.name is not None and (name == error.name or name.startswith(f"{error.name}.")):
            return None
        raise _not_importable(name, error) from error
    # A boundary to users' code, which may raise any exception.
    except (Exception, SystemExit) as error:
        raise _not_importable(name, error) from error


def _import_file(path: Path) -> ModuleType:
    """Import the file at ``path`` under its own name; modules in the same folder are importable."""
    if not path.is_file():
        raise UsageError(f"there is no file {str(path)!r}")
    known = sys.modules.get(path.stem)
    if known is not None and _is_module_at(known, path):
        return known
    # Two folders may each have a suite.py: the second one goes by its whole path.
    name = path.stem if known is None else os.path.realpath(path)
    if name in sys.modules:
        return sys.modules[name]
    GATE.require_code(path)
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    _make_importable(path.absolute().parent)
    # Before it runs, as Python itself does: dataclasses and imports in a circle look it up.
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except (Exception, SystemExit) as error:  # as above
        # Half a module must not be taken for a whole one at the next attempt.
        del sys.modules[name]
        raise _not_importable(str(path), error) from error
    return module


def _is_module_at(module: ModuleType, path: Path) -> bool:
    return os.path.realpath(getattr(module, "__file__", None) or "") == os.path.realpath(path)


def _find_home(module: ModuleType) -> str | None:
    """Return how to import ``module``: a script by its file; ``None`` for interactive code."""
    name = module.__name__
    if name == "__main__":
        # Run by `python -m`, a module still knows under which name.
        name = module.__spec__.name if module.__spec__ else ""
    if re.fullmatch(_DOTTED, name):
        return name
    file = getattr(module, "__file__", None)
    return format_path(Path(file)) if file and file.endswith(".py") else None


def _not_importable(name: str, error: BaseException) -> UsageError:
    return UsageError(f"{name} cannot be imported: {format_error(error)}")


def _no_module(name: str) -> NoSuchModule:
    parent, _, last = name.rpartition(".")
    beside = getattr(sys.modules.get(parent), "__path__", None) if parent else [str(Path.cwd())]
    near = did_you_mean(last, [module.name for module in pkgutil.iter_modules(beside or [])])
    message = f"there is no module {name!r}"
    return NoSuchModule(message, meant=near or f"Searched {Path.cwd()} and the installed packages.")


# ── Objects in them ──────────────────────────────────────────────────────────────────────────


def _find_dotted(parts: list[str]) -> Any:
    """Return the object at a dotted path; its module is the longest importable part."""
    # The longest first: a package may have an attribute of the name of its submodule.
    for length in range(len(parts) - 1, 0, -1):
        home = ".".join(parts[:length])
        module = _import_module(home)
        if module is not None and (length == len(parts) - 1 or hasattr(module, parts[length])):
            return _get_attribute(module, parts[length:], home)
    raise _no_module(".".join(parts[:-1]))


def _get_attribute(module: ModuleType, path: list[str], home: str) -> Any:
    found: Any = module
    for name in path:
        if not hasattr(found, name):
            classes = [other for other, value in vars(found).items() if _is_class_of(value, module)]
            there = (
                f"Its classes: {', '.join(classes)}." if classes else f"{home} defines no class."
            )
            raise UsageError(
                f"{home} has no {'.'.join(path)!r}", meant=did_you_mean(name, classes) or there
            )
        found = getattr(found, name)
    if ismodule(found):
        raise UsageError(
            f"{home}.{'.'.join(path)} is a module", meant="Name the class in it: my.module:Suite."
        )
    return found


def _is_class_of(value: Any, module: ModuleType) -> bool:
    return isclass(value) and value.__module__ == module.__name__
