# -*- coding: utf-8 -*-
"""The metadata, and (slowly) the built wheel: complete, importable and nothing else in it."""

import configparser
import importlib.metadata
import json
import os
import shutil
import subprocess
import sys
import sysconfig
import zipfile
from email.message import Message
from email.parser import Parser
from pathlib import Path

import pytest
from _house import PACKAGE, ROOT, normalized

import agentscope_reme

EXTRAS = {"all", "chroma", "dev", "elasticsearch", "light", "local", "pgvector", "qdrant", "server"}
REQUIRED = {"agentscope", "dashscope", "openai", "tiktoken", "faiss-cpu", "jieba", "rank-bm25", "numpy", "pyyaml"}
# What a plain install of the host lacks.
PINS = {"mcp>=1.13,<2", "openai>=1.109,<3", "greenlet>=3", "tqdm>=4.60", 'tomli>=2; python_version < "3.11"'}


@pytest.fixture(scope="module")
def config() -> configparser.ConfigParser:
    parser = configparser.ConfigParser(interpolation=None)
    parser.read(ROOT / "setup.cfg", encoding="utf-8")
    return parser


def test_the_version_is_written_in_one_place(config: configparser.ConfigParser) -> None:
    assert config["metadata"]["version"] == "attr: agentscope_reme._version.__version__"
    written = [path for path in PACKAGE.rglob("*.py") if "__version__ = " in path.read_text(encoding="utf-8")]
    assert written == [PACKAGE / "_version.py"]
    assert agentscope_reme.__version__ == agentscope_reme._version.__version__


def test_the_installed_version_is_the_package_s(config: configparser.ConfigParser) -> None:
    try:
        installed = importlib.metadata.version(config["metadata"]["name"])
    except importlib.metadata.PackageNotFoundError:
        pytest.skip("the package is not installed here, only importable")
    assert installed == agentscope_reme.__version__


def test_extras_and_requirements(config: configparser.ConfigParser) -> None:
    assert set(config["options.extras_require"]) == EXTRAS
    assert config["options.extras_require"]["light"].strip() == ""
    lines = {line.strip() for line in config["options"]["install_requires"].splitlines()}
    assert lines >= PINS
    assert "agentscope>=1.0.19,<2" in lines
    assert {normalized(line.split(">")[0]) for line in lines} >= REQUIRED
    assert config["options"]["python_requires"] == ">=3.10,<3.14"


def test_all_is_every_extra_that_is_for_use(config: configparser.ConfigParser) -> None:
    asked = config["options.extras_require"]["all"].split()
    assert set(asked) == {f"agentscope-reme[{extra}]" for extra in EXTRAS - {"all", "dev", "light"}}


def test_the_readme_is_the_long_description(config: configparser.ConfigParser) -> None:
    assert config["metadata"]["long_description"] == "file: README.md"
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert "agentscope-reme" in readme
    assert 'pip install -e ".[dev]" && pytest' in readme
    assert "Apache License" in (ROOT / "LICENSE").read_text(encoding="utf-8")


def test_ci_runs_the_readme_s_command() -> None:
    script = (ROOT / ".ci" / "run").read_text(encoding="utf-8").splitlines()
    steps = ['pip install --quiet -e ".[dev]"', "pytest", "pytest -m slow", "ruff check", "ruff format --check", "mypy"]
    places = [next(i for i, line in enumerate(script) if line.startswith(step)) for step in steps]
    assert places == sorted(places)
    assert "set -euo pipefail" in script
    assert os.access(ROOT / ".ci" / "run", os.X_OK)


def tracked_files() -> list[Path]:
    """What belongs to the project: git's list, or everything where there is no git."""
    command = ["git", "ls-files", "-z", "--cached"]
    try:
        listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout.split("\0")
        paths = [Path(name) for name in listed if name]
    except (OSError, subprocess.CalledProcessError):
        paths = [path.relative_to(ROOT) for path in ROOT.rglob("*") if "__pycache__" not in path.parts]
    return [path for path in paths if (ROOT / path).is_file()]


def package_files() -> set[str]:
    """What the wheel must hold."""
    files = (path for path in tracked_files() if path.parts[0] == "agentscope_reme")
    return {path.as_posix() for path in files if path.suffix in (".py", ".yaml") or path.name == "py.typed"}


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel, built from the source distribution, built from a copy of the project's files."""
    pytest.importorskip("build", reason='needs the extra: pip install -e ".[dev]"')
    copy = tmp_path_factory.mktemp("project")
    for path in tracked_files():
        (copy / path).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(ROOT / path, copy / path)
    built = subprocess.run(
        [sys.executable, "-m", "build", "--no-isolation", "--outdir", "dist", "."],
        cwd=copy,
        capture_output=True,
        text=True,
    )
    assert built.returncode == 0, built.stdout[-3000:] + built.stderr[-3000:]
    return next((copy / "dist").glob("*.whl"))


@pytest.mark.slow
def test_the_wheel_holds_the_package_and_nothing_else(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = {name for name in archive.namelist() if ".dist-info/" not in name}
        metadata = next(name for name in archive.namelist() if name.endswith(".dist-info/METADATA"))
        told: Message = Parser().parsestr(archive.read(metadata).decode())
        entry_points = archive.read(metadata.replace("METADATA", "entry_points.txt")).decode()
        licences = [name for name in archive.namelist() if name.endswith("/LICENSE")]

    assert names == package_files()
    assert any(name.endswith(".yaml") for name in names)
    assert told["Version"] == agentscope_reme.__version__
    assert set(told.get_all("Provides-Extra")) == EXTRAS
    assert told["Requires-Python"] in (">=3.10,<3.14", "<3.14,>=3.10")
    assert told.get_payload().strip() == (ROOT / "README.md").read_text(encoding="utf-8").strip()
    assert "agentscope-reme = agentscope_reme.cli:main" in entry_points
    assert licences


IMPORT_ALL = """
import importlib, json, pathlib, pkgutil, sys
import agentscope_reme
found = [agentscope_reme, *(importlib.import_module(m.name) for m in
         pkgutil.walk_packages(agentscope_reme.__path__, "agentscope_reme.") if not m.name.endswith("__main__"))]
for module in found:
    for name in getattr(module, "__all__", ()):
        getattr(module, name)
prompts = sorted(p.name for p in (pathlib.Path(agentscope_reme.__file__).parent / "prompts").rglob("*.yaml"))
print(json.dumps([[m.__file__ for m in found], prompts]))
"""


@pytest.mark.slow
def test_the_wheel_installs_and_every_module_imports(wheel: Path, tmp_path: Path) -> None:
    environment = tmp_path / "venv"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", environment], check=True)
    python = environment / ("Scripts" if os.name == "nt" else "bin") / "python"
    pip = [sys.executable, "-m", "pip", "--python", str(python), "install", "--quiet", "--no-deps", "--no-index"]
    subprocess.run([*pip, str(wheel)], check=True, capture_output=True)
    # The requirements come from the environment that runs the tests; its own copy of the package comes after ours.
    ours = next((environment / "lib").glob("python*")) / "site-packages" if os.name != "nt" else environment / "Lib"
    (ours / "zz_requirements.pth").write_text(sysconfig.get_paths()["purelib"] + "\n", encoding="utf-8")

    run = subprocess.run([python, "-I", "-c", IMPORT_ALL], cwd=tmp_path, capture_output=True, text=True)

    assert run.returncode == 0, run.stderr[-3000:]
    files, prompts = json.loads(run.stdout.splitlines()[-1])
    assert all(Path(file).is_relative_to(environment) for file in files)
    modules = [name for name in package_files() if name.endswith(".py") and not name.endswith("__main__.py")]
    assert len(files) == len(modules)
    assert len(prompts) == len([name for name in package_files() if name.endswith(".yaml")])
