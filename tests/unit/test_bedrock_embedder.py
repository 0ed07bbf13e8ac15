"""Embeddings from Amazon Bedrock, over real HTTP on this machine."""

import json
import logging
import time
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path
from typing import Any, cast

import botocore.session  # pyright: ignore[reportMissingTypeStubs]
import numpy as np
import pytest

from keeproom.aws import embedder as on_aws
from keeproom.aws.client import client
from keeproom.aws.embedder import CALLS, BedrockEmbedder
from keeproom.clock import tries
from keeproom.engines.bedrock_models import bedrock_model
from keeproom.engines.excerpts import excerpts
from keeproom.errors import Invalid, Unavailable
from tests.bedrock import (
    BROKEN,
    COHERE,
    DENIED,
    NOVA,
    RESET,
    STALLED,
    THROTTLED,
    TITAN,
    WELL,
    Bedrock,
    Fault,
    bedrock,
)

TEXT = "Anna's door code"


@pytest.fixture
def cloud(monkeypatch: pytest.MonkeyPatch) -> Iterator[Bedrock]:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "test")
    monkeypatch.setenv("AWS_DEFAULT_REGION", "eu-west-1")
    with bedrock() as told:
        yield told


def opened(
    cloud: Bedrock, model: str = TITAN, *, read: float = 30, **patience: float
) -> closing[BedrockEmbedder]:
    runtime = client("bedrock-runtime", endpoint=cloud.url, read=read, pool=CALLS)
    made = BedrockEmbedder(runtime, bedrock_model(model), region="eu-west-1", **patience)
    return closing(made)


def purposes(cloud: Bedrock) -> list[str]:
    told: list[str] = []
    for _, asked in cloud.asked:
        params: dict[str, Any] = asked.get("singleEmbeddingParams", {})
        told.append(asked.get("input_type") or params.get("embeddingPurpose") or "")
    return told


def test_titan_is_asked_for_one_unit_vector_of_512_numbers_a_text(cloud: Bedrock) -> None:
    with opened(cloud) as model:
        model.passages(["tea", "boat"])

        assert (model.model, model.dims) == (f"{TITAN}@512", 512)
    bodies = sorted((asked for _, asked in cloud.asked), key=lambda one: one["inputText"])
    assert bodies == [
        {"inputText": text, "dimensions": 512, "normalize": True} for text in ("boat", "tea")
    ]


def test_titan_knows_no_difference_between_a_question_and_a_memory(cloud: Bedrock) -> None:
    with opened(cloud) as model:
        (made,) = model.passages(["tea"])

        assert model.query("tea").vector == made.vectors
    assert len(cloud.asked) == 1, "the same text was sent twice"


def test_cohere_takes_ninety_six_texts_a_call(cloud: Bedrock) -> None:
    with opened(cloud, COHERE) as model:
        made = model.passages([f"fact {n}" for n in range(100)])
        model.query("fact 7")

        assert (model.model, model.dims) == (f"{COHERE}@512", 512)
    assert len(made) == 100
    assert sorted(len(asked["texts"]) for _, asked in cloud.asked) == [1, 4, 96]
    assert sorted(purposes(cloud)) == ["search_document", "search_document", "search_query"]


def test_nova_is_told_what_is_compared_and_what_is_asked(cloud: Bedrock) -> None:
    with opened(cloud, NOVA) as model:
        model.passages(["tea"])
        model.query("tea")

        assert (model.model, model.dims) == (f"{NOVA}@384", 384)
    assert purposes(cloud) == ["GENERIC_INDEX", "TEXT_RETRIEVAL"]


def test_a_model_of_several_regions_is_the_same_model(cloud: Bedrock) -> None:
    with opened(cloud, f"eu.{COHERE}") as model:
        model.query("tea")

        assert model.model == f"{COHERE}@512"
    assert cloud.asked[0][0] == f"eu.{COHERE}"


def test_an_unknown_model_is_refused_with_those_that_are_known() -> None:
    with pytest.raises(Invalid, match=TITAN) as told:
        on_aws.open("amazon.titan-embed-text-v1")
    assert told.value.param == "EMBEDDING_MODEL"


def test_many_texts_are_sent_together_but_not_all_at_once(cloud: Bedrock) -> None:
    cloud.faults = [Fault(slowly=0.05)]
    texts = [f"fact {n}" for n in range(40)]
    with opened(cloud) as model:
        model.passages(texts)

    assert 2 <= cloud.together <= CALLS
    assert sorted(cloud.texts) == sorted(texts)


def test_a_long_text_is_sent_in_overlapping_excerpts_within_the_models_window(
    cloud: Bedrock,
) -> None:
    text = " ".join(f"word{n}" for n in range(900))
    with opened(cloud) as model:
        (made,) = model.passages([text])

    assert sorted(cloud.texts) == sorted(excerpts(text))
    assert len(made.vectors) == 4 * 512 * len(excerpts(text))
    assert max(map(len, cloud.texts)) <= 1500, "Titan takes 50,000 characters, Nova 8,192"


@pytest.mark.parametrize("fault", [THROTTLED, BROKEN, RESET], ids=["throttled", "500", "reset"])
def test_what_passes_is_tried_again(cloud: Bedrock, fault: Fault) -> None:
    cloud.faults = [fault, fault, WELL]
    with opened(cloud) as model:
        (made,) = model.passages(["tea"])

    assert len(made.vectors) == 4 * 512
    assert cloud.texts == ["tea"] * 3


def test_a_throttle_storm_ends_at_the_deadline_and_slows_everybody_down(cloud: Bedrock) -> None:
    cloud.faults = [THROTTLED]
    with opened(cloud, deadline=1.5, query_deadline=0.1) as model:
        began = time.monotonic()
        with pytest.raises(Unavailable, match="overrun"):
            model.passages([f"fact {n}" for n in range(200)])
        asked = len(cloud.asked)
        with pytest.raises(Unavailable, match="overrun"):
            model.query("tea")

        assert time.monotonic() - began < 15
    assert asked < 30, "it did not slow down"
    assert "tea" not in cloud.texts, "who cannot be answered in time did not have to ask"


def test_what_a_storm_left_undone_is_all_that_is_asked_again(cloud: Bedrock) -> None:
    cloud.faults = [*[WELL] * 5, THROTTLED]
    texts = [f"fact {n}" for n in range(8)]
    with opened(cloud, deadline=2.0) as model:
        with pytest.raises(Unavailable):
            model.passages(texts)
        cloud.faults, cloud.asked = [WELL], []
        for _ in tries(60.0):
            with suppress(Unavailable):
                model.passages(texts)
                break

    assert len(set(cloud.texts)) == 3


def test_a_refused_model_says_what_to_do(cloud: Bedrock, caplog: pytest.LogCaptureFixture) -> None:
    cloud.faults = [DENIED]
    caplog.set_level(logging.DEBUG, logger="keeproom")
    with opened(cloud) as model, pytest.raises(Unavailable) as told:
        model.passages([TEXT])

    assert len(cloud.asked) == 1
    for said in (TITAN, "eu-west-1", "Bedrock console", "bedrock:InvokeModel"):
        assert said in str(told.value)
    assert TEXT not in str(told.value) + caplog.text
    assert told.value.__cause__ is None


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{}",
        b"[]",
        b"[" * 100_000,
        b'{"embedding": [1, 2, 3]}',
        b'{"embedding": "no"}',
        json.dumps({"embedding": [0.0] * 512}).encode(),
        json.dumps({"embedding": ["x"] * 512}).encode(),
        json.dumps({"embedding": [[1.0]] * 512}).encode(),
        b'{"embedding": [' + b"1e999," * 511 + b"1]}",
    ],
    ids=[
        "empty", "nothing", "list", "deep", "short", "text", "zero", "words", "nested", "infinite",
    ],
)  # fmt: skip
def test_an_answer_that_is_no_vector_is_refused(cloud: Bedrock, body: bytes) -> None:
    cloud.faults = [Fault(body=body)]
    with opened(cloud) as model, pytest.raises(Unavailable) as told:
        model.passages([TEXT])

    assert TEXT not in str(told.value)


def test_nobody_waits_for_a_call_that_hangs(cloud: Bedrock) -> None:
    cloud.faults = [STALLED]
    with opened(cloud, query_deadline=0.3) as model:
        began = time.monotonic()
        with pytest.raises(Unavailable, match="in time"):
            model.query("tea")
        assert time.monotonic() - began < 15
        cloud.over.set()


def test_a_call_without_credentials_says_so(
    cloud: Bedrock, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.delenv(name)
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(tmp_path / "none"))
    monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "none"))
    make = cast("Any", botocore.session.Session())
    runtime = make.create_client("bedrock-runtime", endpoint_url=cloud.url)

    with (
        closing(BedrockEmbedder(runtime, bedrock_model(TITAN))) as model,
        pytest.raises(Unavailable, match="NoCredentials"),
    ):
        model.query("tea")


def test_vectors_are_scaled_to_unit_length(cloud: Bedrock) -> None:
    cloud.faults = [Fault(body=json.dumps({"embedding": [3.0, 4.0, *[0.0] * 510]}).encode())]
    with opened(cloud) as model:
        row = np.frombuffer(model.query("tea").vector, "<f4")

    assert row[:3].tolist() == pytest.approx([0.6, 0.8, 0.0])
