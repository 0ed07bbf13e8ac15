import os
import subprocess
import sys
from pathlib import Path

import pytest

from evals.ranking import mean_reciprocal_rank, ranked, recall_at, reciprocal_rank
from evals.report import Section, Table, write

ROOT = Path(__file__).parents[2]


def test_recall_is_the_share_of_the_evidence_that_the_first_hits_cover() -> None:
    hits = [{"other"}, {"b"}, set[str](), {"x"}, {"y"}, {"a"}]

    got = ranked(hits, {"a", "b", "c", "d"})

    assert got.recall == {5: 0.25, 10: 0.5, 20: 0.5}


def test_one_hit_may_cover_several_pieces_of_evidence_and_none_counts_twice() -> None:
    hits = [{"a", "b"}, {"a"}, {"b", "z"}]

    assert ranked(hits, {"a", "b"}).recall[5] == 1.0
    assert ranked([{"a"}, {"a"}], {"a", "b"}).recall[5] == 0.5


def test_evidence_at_the_eleventh_place_counts_for_twenty_hits_but_not_for_ten() -> None:
    hits = [{str(rank)} for rank in range(1, 12)]

    assert ranked(hits, {"11"}).recall == {5: 0.0, 10: 0.0, 20: 1.0}


def test_the_first_hit_with_any_evidence_gives_the_reciprocal_rank() -> None:
    assert ranked([{"x"}, {"y"}, {"b"}, {"a"}], {"a", "b"}).first == pytest.approx(1 / 3)


def test_a_first_hit_below_the_fiftieth_place_counts_as_none() -> None:
    hits = [{str(rank)} for rank in range(1, 60)]

    assert ranked(hits, {"50"}).first == pytest.approx(1 / 50)
    assert ranked(hits, {"51"}).first == 0.0


def test_a_question_without_any_hit_has_found_nothing() -> None:
    got = ranked([], {"a"})

    assert (got.recall[20], got.first) == (0.0, 0.0)


def test_every_question_weighs_the_same_however_much_evidence_it_has() -> None:
    both = [ranked([{"a"}], {"a", "b", "c", "d"}), ranked([{"x"}, {"e"}], {"e"})]

    assert recall_at(10, both) == pytest.approx((0.25 + 1.0) / 2)
    assert mean_reciprocal_rank(both) == pytest.approx((1.0 + 0.5) / 2)


def test_the_rank_of_the_first_relevant_memory_counts() -> None:
    assert reciprocal_rank(["m1", "m2", "m3"], {"m3", "m2"}) == pytest.approx(1 / 2)
    assert reciprocal_rank(["m1"], {"m9"}) == 0.0


def test_measuring_again_replaces_only_its_own_section_of_the_page(tmp_path: Path) -> None:
    page = tmp_path / "docs" / "evals.md"
    write(_section("first", "0.1"), page=page)
    write(_section("second", "0.2"), page=page)

    write(_section("first", "0.3"), page=page)

    text = page.read_text(encoding="utf-8")
    assert "| recall | 0.1 |" not in text
    assert text.index("| recall | 0.3 |") < text.index("| recall | 0.2 |")
    assert text.count("<!-- first: begin -->") == 1


def test_recall_without_its_questions_says_what_to_do_and_measures_nothing() -> None:
    ran = subprocess.run(
        [sys.executable, ROOT / "evals" / "recall.py"],
        env={**os.environ, "PYTHONPATH": str(ROOT / "layers" / "core" / "python")},
        capture_output=True,
        text=True,
        check=False,
    )

    assert (ran.returncode, ran.stdout) == (2, "")
    assert "--data locomo10.json" in ran.stderr


def _section(name: str, number: str) -> Section:
    table = Table(columns=["what", "measured"], rows=[["recall", number]])
    return Section(name=name, title=name, command="make it", about="What it is.", table=table)
