"""What Amazon Bedrock's embedding models are asked, and where their answers hold the vectors."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from keeproom.errors import Invalid

_WHERE = re.compile(r"^(us|eu|apac|jp|au|ca|us-gov|global)\.")  # of an inference profile


class Purpose(StrEnum):
    """Memories are also compared with each other, always as memories."""

    MEMORY = "memory"
    QUESTION = "question"


@dataclass(frozen=True, slots=True, kw_only=True)
class BedrockModel:
    """`id`: as it is invoked. `most`: texts a call. `tells_apart`: whether a text as a question
    has another vector than as a memory. `vectors` raises `ValueError`, `TypeError` or
    `LookupError` for an answer of another shape."""

    id: str
    dims: int
    most: int
    tells_apart: bool
    body: Callable[[Sequence[str], Purpose], Mapping[str, Any]]
    vectors: Callable[[Any], Sequence[Any]]

    @property
    def name(self) -> str:
        """The same wherever it runs: vectors of one name may be compared."""
        return f"{_WHERE.sub('', self.id)}@{self.dims}"


def bedrock_model(id: str) -> BedrockModel:
    """The model of that id, which may be of a cross-region inference profile. Raises `Invalid`."""
    made = _KNOWN.get(_WHERE.sub("", id))
    if made is None:
        known = ", ".join(_KNOWN)
        raise Invalid(f"EMBEDDING_MODEL must be one of: {known}.", param="EMBEDDING_MODEL")
    return made(id)


def _titan(id: str) -> BedrockModel:
    return BedrockModel(
        id=id, dims=512, most=1, tells_apart=False,
        body=lambda texts, _: {"inputText": texts[0], "dimensions": 512, "normalize": True},
        vectors=lambda answer: [answer["embedding"]],
    )  # fmt: skip


def _cohere(id: str) -> BedrockModel:
    kinds = {Purpose.MEMORY: "search_document", Purpose.QUESTION: "search_query"}

    def body(texts: Sequence[str], purpose: Purpose) -> Mapping[str, Any]:
        return {
            "texts": list(texts),
            "input_type": kinds[purpose],
            "embedding_types": ["float"],
            "output_dimension": 512,
            "truncate": "RIGHT",
        }

    return BedrockModel(
        id=id, dims=512, most=96, tells_apart=True, body=body,
        vectors=lambda answer: answer["embeddings"]["float"],
    )  # fmt: skip


def _nova(id: str) -> BedrockModel:
    kinds = {Purpose.MEMORY: "GENERIC_INDEX", Purpose.QUESTION: "TEXT_RETRIEVAL"}

    def body(texts: Sequence[str], purpose: Purpose) -> Mapping[str, Any]:
        return {
            "schemaVersion": "nova-multimodal-embed-v1",
            "taskType": "SINGLE_EMBEDDING",
            "singleEmbeddingParams": {
                "embeddingPurpose": kinds[purpose],
                "embeddingDimension": 384,
                "text": {"truncationMode": "END", "value": texts[0]},
            },
        }

    return BedrockModel(
        id=id, dims=384, most=1, tells_apart=True, body=body,
        vectors=lambda answer: [answer["embeddings"][0]["embedding"]],
    )  # fmt: skip


_KNOWN: Mapping[str, Callable[[str], BedrockModel]] = {
    "amazon.titan-embed-text-v2:0": _titan,
    "cohere.embed-v4:0": _cohere,
    "amazon.nova-2-multimodal-embeddings-v1:0": _nova,
}
