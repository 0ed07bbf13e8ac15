"""Text into pieces."""

from array import array

import pytest

from keeproom.engines.e5_file import Vocabulary
from keeproom.engines.query_words import words
from keeproom.engines.unigram import Unigram

PIECES = ["<s>", "<pad>", "</s>", "<unk>", "▁", "▁a", "b", "c", "▁ab", "bc", "▁<", "s", ">"]
SCORES = [0, 0, 0, 0, -3, -2, -2, -2, -2.5, -1, -2, -2, -2]


def unigram(pieces: list[str] = PIECES, normal: dict[str, str] | None = None) -> Unigram:
    scores = array("f", [*SCORES, *[-1.0] * (len(pieces) - len(SCORES))])
    return Unigram(Vocabulary(pieces, scores, 0, 2, 1, 3, normal or {}))


def test_the_likeliest_pieces_are_taken() -> None:
    # a + bc is -3, ab + c is -4.5
    assert unigram().ids("abc", limit=9) == [5, 9]


def test_what_no_piece_covers_is_unknown_letter_by_letter() -> None:
    assert unigram().ids("axyb", limit=9) == [5, 3, 3, 6]


def test_a_text_cannot_write_control_pieces() -> None:
    assert unigram().ids("<s>", limit=9) == [10, 11, 12]


def test_spaces_count_once() -> None:
    assert unigram().ids("a    a", limit=9) == unigram().ids("a a", limit=9) == [5, 5]


def test_characters_are_read_as_the_vocabulary_spells_them() -> None:
    assert unigram(normal={"\ufb00": "bc", "\t": " "}).ids("a\t\ufb00", limit=9) == [5, 4, 9]


def test_a_decomposed_letter_is_the_composed_one() -> None:
    accented = unigram([*PIECES, "é"])

    assert accented.ids("ae\u0301", limit=9) == accented.ids("aé", limit=9) == [5, 13]


def test_no_more_pieces_than_asked_for() -> None:
    bomb = unigram(normal={"\ufdfa": "b c " * 9})

    assert bomb.ids("\ufdfa" * 1_000_000, limit=4) == [4, 6, 4, 7]


def test_surfaces_cover_the_text() -> None:
    assert unigram().surfaces("abc x", limit=9) == ["▁a", "bc", "▁", "x"]


@pytest.mark.parametrize(
    ("surfaces", "expected"),
    [
        (["▁sta", "ging", "-", "db", "▁is"], ("staging-db", "staging-db", "", "staging-db", "is")),
        (["▁(", "v", "1.2", ")", ","], ("", "v1.2", "v1.2", "", "")),
        (["▁", "東京", "で", "Post", "gre", "を"], ("", "東京", "で", "Postgre", "Postgre", "を")),
        (["▁서울", "에", "서"], ("서울", "에", "서")),
        ([], ()),
    ],
)
def test_a_piece_belongs_to_its_word(surfaces: list[str], expected: tuple[str, ...]) -> None:
    assert words(surfaces) == expected
