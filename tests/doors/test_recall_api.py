"""`/api/recall`, as the owner has it."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from keeproom import compose
from keeproom.settings import read_settings
from tests.applications import application
from tests.doors.conftest import client_in
from tests.embedders import WordEmbedder
from tests.http import client_of

MEMORIES = (
    {"content": "Ana must not eat hazelnuts", "type": "fact", "tags": ["food"]},
    {"content": "Flies to Porto with Teo", "type": "event", "source_date": "2026-12-14"},
    {"content": "Flew to Oslo with Teo", "type": "event", "source_date": "2024-05-02"},
    {"content": "野田さんは東京で働いています", "type": "relationship"},
)


def fill(client: httpx.Client) -> httpx.Client:
    client.put("/api/settings", json={"approval_mode": "auto"}).raise_for_status()
    for memory in MEMORIES:
        client.post("/api/memories", json=memory).raise_for_status()
    return client


@pytest.fixture
def known(client: httpx.Client) -> httpx.Client:
    return fill(client)


@pytest.fixture(scope="module")
def read_only(tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx.Client]:
    """The same memories, for tests that only ask."""
    with client_in(tmp_path_factory.mktemp("known")) as client:
        yield fill(client)


def recalled(client: httpx.Client, q: str, **how: Any) -> dict[str, Any]:
    answer = client.get("/api/recall", params={"q": q, **how})
    assert answer.status_code == 200, answer.text
    return answer.json()


def contents(told: dict[str, Any]) -> list[str]:
    return [hit["content"] for hit in told["data"]]


def test_hits_come_best_first_and_explain_themselves(read_only: httpx.Client) -> None:
    told = recalled(read_only, "what must Ana not eat")

    best = told["data"][0]
    assert (told["mode"], told["reason"]) == ("hybrid", None)
    assert best["content"] == "Ana must not eat hazelnuts"
    assert best["score"] == max(hit["score"] for hit in told["data"])
    assert best["signals"]["keyword"] == 1.0
    assert best["signals"]["similarity"] > 0.5
    assert best["signals"]["date"] is None
    plain = recalled(read_only, "what must Ana not eat", explain=0)
    assert plain["data"][0]["signals"] is None


@pytest.mark.parametrize("query", ["東京", "hazelnuts", "ＯＳＬＯ", '"(:-*/ OR hazelnuts'])
def test_any_text_is_a_query(read_only: httpx.Client, query: str) -> None:
    assert len(recalled(read_only, query)["data"]) >= 1


def test_filters_narrow_what_is_found(read_only: httpx.Client) -> None:
    assert len(contents(recalled(read_only, "Teo", types=["event"]))) == 2
    assert contents(recalled(read_only, "Teo", since="2026-01-01")) == ["Flies to Porto with Teo"]
    assert contents(recalled(read_only, "Teo", until="2024-12-31")) == ["Flew to Oslo with Teo"]
    assert contents(recalled(read_only, "hazelnuts", tags=["FOOD"])) == [
        "Ana must not eat hazelnuts"
    ]
    assert len(contents(recalled(read_only, "Teo", limit=1))) == 1
    nothing = recalled(read_only, "Teo", types=["project"])
    assert nothing["data"] == []
    assert nothing["reason"]


def test_a_date_in_the_query_counts(read_only: httpx.Client) -> None:
    best = recalled(read_only, "with Teo in December 2026")["data"][0]

    assert best["content"] == "Flies to Porto with Teo"
    assert best["signals"]["date"] > 0.5


def test_history_is_found_only_when_asked_for(known: httpx.Client) -> None:
    old = known.post("/api/memories", json={"content": "Banks with Triodos"}).json()["memory"]
    known.post(
        "/api/memories", json={"content": "Banks with Bunq", "supersedes": old["id"]}
    ).raise_for_status()

    assert contents(recalled(known, "banks"))[0] == "Banks with Bunq"
    assert "Banks with Triodos" not in contents(recalled(known, "banks"))
    assert "Banks with Triodos" in contents(recalled(known, "banks", include_history="true"))


def test_the_next_recall_knows_every_change(known: httpx.Client) -> None:
    memory = recalled(known, "hazelnuts")["data"][0]
    address = f"/api/memories/{memory['id']}"

    known.patch(
        address, json={"content": "Ana must not eat walnuts", "expected_revision": 1}
    ).raise_for_status()
    assert contents(recalled(known, "walnuts")) == ["Ana must not eat walnuts"]
    known.delete(address).raise_for_status()
    assert contents(recalled(known, "walnuts")) == []


def test_without_a_model_words_are_searched_and_the_answer_says_so(
    known: httpx.Client, embedder: WordEmbedder
) -> None:
    embedder.down = True

    told = recalled(known, "hazelnuts")

    assert (told["mode"], contents(told)) == ("keyword-only", ["Ana must not eat hazelnuts"])
    assert told["data"][0]["signals"]["similarity"] is None
    written = known.post("/api/memories", json={"content": "Ana may eat cashews"})
    assert written.status_code == 201
    assert contents(recalled(known, "cashews")) == ["Ana may eat cashews"]


def test_active_memories_that_may_contradict_each_other_are_flagged(known: httpx.Client) -> None:
    one = known.post("/api/memories", json={"content": "The gym opens at 7 on Mondays"})
    two = known.post("/api/memories", json={"content": "The gym opens at 8 on Mondays"})
    first, second = (told.json()["memory"]["id"] for told in (one, two))

    hits = {hit["id"]: hit for hit in recalled(known, "when does the gym open")["data"]}

    assert hits[first]["may_conflict_with"] == [second]
    assert hits[second]["may_conflict_with"] == [first]


def test_the_other_formula_can_be_chosen(read_only: httpx.Client) -> None:
    default = recalled(read_only, "hazelnuts for Ana")["data"][0]["score"]
    classic = recalled(read_only, "hazelnuts for Ana", preset="classic")["data"][0]["score"]

    assert default != classic


def test_the_bundled_model_finds_a_fact_in_other_languages(tmp_path: Path) -> None:
    settings = read_settings(KEEPROOM_HOME=tmp_path, KEEPROOM_EMBEDDER="bundled")
    facts = ("Ana is allergic to hazelnuts", "The car is parked in Utrecht", "Teo plays chess")
    with (
        compose.local(settings) as here,
        client_of(application(here.vault)) as client,
    ):
        for fact in facts:
            client.post("/api/memories", json={"content": fact}).raise_for_status()

        for query in ("Was darf Ana nicht essen?", "¿Qué alergia tiene Ana?", "アナのアレルギー"):
            told = recalled(client, query)
            assert (told["mode"], contents(told)[0]) == ("hybrid", facts[0])
            assert told["data"][0]["signals"]["late"] is not None
