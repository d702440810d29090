# -*- coding: utf-8 -*-
"""What vectors can be compared: those of one model and one dimension."""

from __future__ import annotations

from dataclasses import dataclass

from .._errors import ConfigError, VectorSpaceError

__all__ = ["VectorSpace", "check_space"]


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
