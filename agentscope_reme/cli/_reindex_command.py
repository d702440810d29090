# -*- coding: utf-8 -*-
"""`agentscope-reme reindex`: memories get the vectors of another embedding model; one sees how far it is."""

import argparse
import asyncio
import json
import logging
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .._errors import ConfigError, EmbeddingError
from ._progress import Advance, plain_progress, progress_bar
from ._terminal import Terminal

if TYPE_CHECKING:
    from agentscope.embedding import EmbeddingModelBase

    from .._reme import ReMe

__all__ = ["DESCRIPTION", "NAME", "SUMMARY", "configure", "run"]

NAME = "reindex"
SUMMARY = "embed the memories of ReMe again, after a change of the embedding model"
DESCRIPTION = (
    "Gives every memory that has none yet a vector of the model that is named. It can be broken off at any time, "
    "also by a kill: what was embedded is kept, and the same command goes on there. Until it is done, memories are "
    "searched with the old vectors by whoever has the old model, and by words by everybody else."
)

NAME_VARIABLE = "EMBEDDING_MODEL_NAME"
_logger = logging.getLogger("agentscope_reme")
_BACKENDS = ("local", "openai", "dashscope")


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.add_argument("--dir", metavar="PATH", default=".reme", help="the working folder of ReMe (.reme)")
    parser.add_argument(
        "--embedding",
        choices=_BACKENDS,
        default="local",
        help="local (the default) is the offline model of the extra [local], ReMe's own where nothing is configured; "
        "openai is any server that speaks its protocol. EMBEDDING_API_KEY (or DASHSCOPE_API_KEY, OPENAI_API_KEY) has "
        "the key",
    )
    parser.add_argument("--model", metavar="NAME", help=f"the model's name (or set {NAME_VARIABLE})")
    parser.add_argument("--dimensions", type=int, metavar="N", help="how many numbers a vector of it has")
    parser.add_argument("--base-url", metavar="URL", help="the server's address (or set EMBEDDING_BASE_URL)")
    parser.add_argument(
        "--store",
        type=_dictionary,
        metavar="JSON",
        help="the default_vector_store_config of your program, where it has one, such as "
        '\'{"backend": "qdrant", "url": "http://localhost:6333"}\'',
    )
    parser.add_argument("--load-env", action="store_true", help="read .env of the current folder first")
    parser.add_argument("--plain", action="store_true", help="plain lines, as where the output is no terminal")


def run(options: argparse.Namespace, terminal: Terminal) -> int:
    """Embed what is to be embedded; 0 once every memory has its vector, or was refused by the model."""
    from .._reme import ReMe
    from ..chat import load_env

    if options.load_env:
        load_env(Path.cwd())
    folder, model = _folder(options), _model(options, terminal.env)
    reme = ReMe(folder, model=None, embedding_model=model, default_vector_store_config=options.store)
    shown = plain_progress if options.plain or not terminal.is_live else progress_bar
    with shown(terminal, "memories") as advance:
        embedded, total = asyncio.run(_reindexed(reme, advance))
    told = f"{embedded:,} of {total:,} memories were embedded" if embedded else f"Of {total:,} memories none was left"
    terminal.write(f"{told}: {model.model_name}, {model.dimensions} dimensions.\n")
    return 0


async def _reindexed(reme: "ReMe", advance: Advance) -> tuple[int, int]:
    """How many memories were embedded, of how many."""
    done, total = 0, 0

    def progress(so_far: int, of: int) -> None:
        nonlocal done, total
        done, total = so_far, of
        advance(so_far, of)

    try:
        with _without_warnings():  # that the vectors are another model's is why somebody is here
            await reme.start()
        return await reme.reindex(progress), total or await reme.bank.store.count()
    except EmbeddingError as error:
        so_far = f" {done:,} of {total:,} memories are done: the same command goes on there." if done else ""
        raise EmbeddingError(f"{error}{so_far}") from error
    finally:
        await reme.close()


@contextmanager
def _without_warnings() -> Iterator[None]:
    before = _logger.level
    _logger.setLevel(logging.ERROR)
    try:
        yield
    finally:
        _logger.setLevel(before)


def _folder(options: argparse.Namespace) -> Path:
    """The working folder, which has to be there unless the memories lie elsewhere."""
    folder = Path(options.dir).expanduser().absolute()
    elsewhere = options.store is not None and options.store.get("backend", "local") != "local"
    if not folder.is_dir() and not elsewhere and not (options.store or {}).get("persist_directory"):
        raise ConfigError(f"--dir {options.dir}: there is no such folder: name the working_dir of your ReMe.")
    return folder


def _model(options: argparse.Namespace, env: Mapping[str, str]) -> "EmbeddingModelBase":
    from ..embedding import build_embedding

    name = options.model or ("" if options.embedding == "local" else env.get(NAME_VARIABLE, "").strip())
    given = {"model_name": name or None, "dimensions": options.dimensions, "base_url": options.base_url}
    if options.embedding == "local" and (extra := [f"--{key.replace('_', '-')}" for key in given if given[key]]):
        extra = [each.replace("--model-name", "--model") for each in extra]
        raise ConfigError(f"{', '.join(extra)} needs --embedding openai or dashscope: the offline model is what it is.")
    return build_embedding({"backend": options.embedding, **given}, env)


def _dictionary(text: str) -> dict[str, Any]:
    """The value of `--store`."""
    try:
        value = json.loads(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(f"{text!r} is no JSON: {error}") from None
    if not isinstance(value, dict):
        raise argparse.ArgumentTypeError(f"{text!r} is no JSON object")
    return value
