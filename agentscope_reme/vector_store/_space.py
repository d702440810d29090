# -*- coding: utf-8 -*-
"""What vectors can be compared: those of one model and one dimension."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from .._errors import ConfigError, EmbeddingError, VectorSpaceError
from ..record import MemoryNode

if TYPE_CHECKING:
    import numpy as np

__all__ = ["VectorSpace", "check_space", "check_vector", "check_vectors"]

_SHORTEST, _LONGEST = 1e-18, 1e18
"""Between these, squares of lengths are float32 numbers."""


@dataclass(frozen=True)
class VectorSpace:
    """The vectors of a collection.

    Args:
        model (`str`): the name of the model with whatever changes its vectors; see `embedding.model_key`.
        dimensions (`int`): the length of a vector.

    Raises:
        `ConfigError`: no dimension.
    """

    model: str
    dimensions: int

    def __post_init__(self) -> None:
        if self.dimensions < 1:
            raise ConfigError(f"dimensions is {self.dimensions!r}: give the length of the model's vectors.")


def check_space(collection: str, found: VectorSpace | None, wanted: VectorSpace | None) -> None:
    """Refuse a collection whose vectors are not of the wanted model and dimension.

    Args:
        collection (`str`): its name, for the message.
        found (`VectorSpace | None`): what it holds; None where it has no vectors yet.
        wanted (`VectorSpace | None`): what is to be put in; None for a use without vectors, which is always possible.

    Raises:
        `VectorSpaceError`: they differ; both are named.
    """
    if found is None or wanted is None or found == wanted:
        return
    raise VectorSpaceError(
        f"Collection {collection!r} holds vectors of {found.model!r} with {found.dimensions} dimensions, and the "
        f"embedding model is {wanted.model!r} with {wanted.dimensions}: go on with the old model, or embed the "
        "collection again with reindex().",
    )


def check_vector(collection: str, space: VectorSpace | None, vector: np.ndarray) -> np.ndarray:
    """A vector as a collection can store it or search with it.

    Args:
        collection (`str`): its name, for the message.
        space (`VectorSpace | None`): what it takes.
        vector (`np.ndarray`): the vector.

    Returns:
        `np.ndarray`: float32 of shape (dimensions,).

    Raises:
        `VectorSpaceError`: it has another dimension, or the collection takes none.
        `EmbeddingError`: it is zero or not finite.
    """
    import numpy as np

    array = np.ascontiguousarray(vector, dtype=np.float32)
    if space is None:
        raise VectorSpaceError(
            f"Collection {collection!r} is open without vectors, and one of shape {array.shape} was given: open it "
            "with the model's VectorSpace.",
        )
    if array.shape != (space.dimensions,):
        raise VectorSpaceError(
            f"Collection {collection!r} takes vectors of {space.dimensions} dimensions ({space.model!r}), and one of "
            f"{'x'.join(map(str, array.shape)) or 'no'} dimensions was given: use that model, or reindex().",
        )
    if not _SHORTEST < float(np.linalg.norm(array.astype(np.float64))) < _LONGEST:
        raise EmbeddingError("A vector is zero, endless or not a number: the embedding model failed on this text.")
    return array


def check_vectors(
    collection: str, space: VectorSpace | None, nodes: Iterable[MemoryNode]
) -> dict[str, np.ndarray | None]:
    """The vectors of memories by key, None for those without one; see `check_vector` for what is refused."""
    return {node.key: None if node.vector is None else check_vector(collection, space, node.vector) for node in nodes}
