# -*- coding: utf-8 -*-
"""FAISS at three sizes: exact in single precision, exact in half precision, clustered in half precision."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np

__all__ = ["VectorStorage"]

_ROWS_A_CLUSTER = 400
_TRAINING_ROWS_A_CLUSTER = 40
_TRAINING_ROUNDS = 8


class VectorStorage:
    """Unit vectors in rows, compared by inner product; a row keeps its number for ever.

    Args:
        dimensions (`int`): the length of a vector.
        half (`bool`): half precision: half the memory, cosines right to about 0.0005.
        clustered_on (`np.ndarray | None`): vectors to learn clusters from (inverted file, in half precision).
    """

    def __init__(self, dimensions: int, half: bool = False, clustered_on: np.ndarray | None = None) -> None:
        faiss = _faiss()
        self.half, self.clustered = half, clustered_on is not None
        metric, code = faiss.METRIC_INNER_PRODUCT, faiss.ScalarQuantizer.QT_fp16
        if clustered_on is not None:
            self._faiss = _clustered(dimensions, clustered_on)
        elif half:
            self._faiss = faiss.IndexScalarQuantizer(dimensions, code, metric)
        else:
            self._faiss = faiss.IndexFlatIP(dimensions)

    @classmethod
    def from_bytes(cls, data: np.ndarray, half: bool, clustered: bool) -> VectorStorage:
        """What ``to_bytes`` gave; files are the caller's, because FAISS cannot open every path."""
        storage = cls.__new__(cls)
        storage.half, storage.clustered = half, clustered
        storage._faiss = _faiss().deserialize_index(data)
        return storage

    def to_bytes(self) -> np.ndarray:
        """Everything, as an array of bytes."""
        return _faiss().serialize_index(self._faiss)

    def __len__(self) -> int:
        return int(self._faiss.ntotal)

    @property
    def exact(self) -> bool:
        """Whether every cosine is exact in single precision."""
        return not (self.half or self.clustered)

    def add(self, vectors: np.ndarray) -> None:
        """Append rows."""
        with _one_thread():
            self._faiss.add(vectors)

    def rows(self, numbers: np.ndarray) -> np.ndarray:
        """The vectors of some rows, in single precision."""
        import numpy as np

        if not len(numbers):
            return np.zeros((0, self._faiss.d), dtype=np.float32)
        return self._faiss.reconstruct_batch(np.ascontiguousarray(numbers, dtype=np.int64))

    def all_cosines(self, query: np.ndarray) -> np.ndarray:
        """The cosine of every row; for storage that is exact."""
        import numpy as np

        cosines = np.full(len(self), -1.0, dtype=np.float32)
        with _one_thread():
            _, values, numbers = self._faiss.range_search(query[None], -3.0)
        cosines[numbers] = values
        return cosines

    def nearest(self, query: np.ndarray, k: int, allowed: np.ndarray | None) -> tuple[np.ndarray, np.ndarray]:
        """The best rows and their cosines, best first; exact unless clustered.

        Args:
            query (`np.ndarray`): a unit vector.
            k (`int`): how many at most.
            allowed (`np.ndarray | None`): booleans, one a row, where not every row may be found.
        """
        import numpy as np

        faiss = _faiss()
        options = {}
        if allowed is not None:
            bits = np.packbits(allowed, bitorder="little")
            options["sel"] = faiss.IDSelectorBitmap(bits)
        parameters = faiss.SearchParametersIVF(nprobe=self._probes, **options) if self.clustered else None
        if parameters is None and options:
            parameters = faiss.SearchParameters(**options)
        with _one_thread():
            values, numbers = self._faiss.search(query[None], min(k, len(self)), params=parameters)
        real = numbers[0] >= 0  # FAISS fills up with -1
        return numbers[0][real], values[0][real]

    @property
    def _probes(self) -> int:
        return max(16, int(self._faiss.nlist) // 5)


def _clustered(dimensions: int, sample: np.ndarray) -> Any:
    faiss = _faiss()
    clusters = max(16, len(sample) // _ROWS_A_CLUSTER)
    quantizer = faiss.IndexFlatIP(dimensions)
    index = faiss.IndexIVFScalarQuantizer(
        quantizer, dimensions, clusters, faiss.ScalarQuantizer.QT_fp16, faiss.METRIC_INNER_PRODUCT, False
    )
    index.cp.niter, index.cp.min_points_per_centroid = _TRAINING_ROUNDS, 1
    index.cp.max_points_per_centroid = _TRAINING_ROWS_A_CLUSTER
    with _one_thread():
        index.train(sample)
    index.set_direct_map_type(faiss.DirectMap.Array)
    return index


@contextmanager
def _one_thread() -> Iterator[None]:
    """One query is too little work to share out, and OpenMP's idle threads spin."""
    faiss = _faiss()
    before = faiss.omp_get_max_threads()
    faiss.omp_set_num_threads(1)
    try:
        yield
    finally:
        faiss.omp_set_num_threads(before)


def _faiss() -> Any:
    """FAISS, loaded at the first vector; its own annotations leave out much of what it takes."""
    import faiss

    return faiss
