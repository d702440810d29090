# -*- coding: utf-8 -*-
"""Embedding models that do what real ones do to their callers."""

import hashlib
import math

from agentscope.embedding import EmbeddingModelBase, EmbeddingResponse


def vector_of(text, dimensions=8):
    """A vector that belongs to one text alone, of length 1."""
    digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()
    numbers = [digest[n % 32] - 127.5 for n in range(dimensions)]
    length = math.hypot(*numbers)
    return [number / length for number in numbers]


class Refused(Exception):
    """A provider's answer with a status."""

    def __init__(self, status_code, message="refused"):
        super().__init__(message)
        self.status_code = status_code


class FakeModel(EmbeddingModelBase):
    """Records its calls and what it answered.

    `before(texts, number)` may raise, `after(vectors, texts, number)` may spoil the answer.
    """

    def __init__(self, dimensions=8, name="fake", *, before=None, after=None, most=None, longest=None):
        super().__init__(name, dimensions)
        self.calls = []
        self.answered = []
        self.before, self.after = before, after
        self.most, self.longest = most, longest

    @property
    def sent(self):
        return [text for call in self.calls for text in call]

    async def __call__(self, text, **kwargs):
        texts = list(text)
        number = len(self.calls)
        self.calls.append(texts)
        for one in texts:
            one.encode("utf-8")
            if not one.strip():
                raise Refused(400, "input must not be blank")
            if self.longest and len(one) * 1.5 > self.longest:
                raise Refused(400, f"maximum context length is {self.longest} tokens")
        if self.most and len(texts) > self.most:
            raise Refused(400, f"batch size is invalid, it should not be larger than {self.most}")
        if self.before:
            self.before(texts, number)
        self.answered += texts
        vectors = [vector_of(one, self.dimensions) for one in texts]
        if self.after:
            vectors = self.after(vectors, texts, number)
        return EmbeddingResponse(embeddings=vectors)
