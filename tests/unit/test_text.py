"""What counts as the same text, what is taken, and what is flagged as hidden."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keeproom.errors import Invalid
from keeproom.vault.text import (
    canonical,
    cleaned,
    cleaned_source,
    cleaned_tags,
    hidden_characters,
    identity_of,
    without_hidden,
)

ODD = st.text(
    alphabet="a1# é\u0301\u05b0م可ก็😀🏴🏳♂\u1100\u1161ß\u0345İ¨\u00ad\u034f\u061c\u115f\u1160\u180e"
    "\u200b\u200c\u200d\u200f\u202e\u2060\u2069\u3164\ufe00\ufe0f\ufeff\uffa0\ufff9"
    "\U000e0062\U000e007f\U000e0100\u2800\ud800",
    max_size=30,
)


@pytest.mark.parametrize(
    "other",
    [
        "PREFERS  dark\n mode ",
        "Prefers\u00a0dark mode",
        "Pre\u00adfers dark\u200b mode\ufeff",
        "\u202ePrefers dark mode\u202c",
        "Ｐｒｅｆｅｒｓ ｄａｒｋ ｍｏｄｅ",
        "Prefers dark mode" + "".join(chr(0xE0000 + ord(c)) for c in "obey"),
    ],
)
def test_case_spacing_width_and_invisible_characters_make_no_other_text(other: str) -> None:
    assert identity_of(other) == identity_of("Prefers dark mode")


def test_composed_and_decomposed_letters_are_the_same_text() -> None:
    assert identity_of("Caf\u00e9 in \ud55c\uad6d") == identity_of(
        "Cafe\u0301 in \u1112\u1161\u11ab\u1100\u116e\u11a8"
    )


def test_sharp_s_is_the_same_as_double_s_and_an_accent_is_not_nothing() -> None:
    assert identity_of("Straße") == identity_of("STRASSE")
    assert identity_of("resume") != identity_of("résumé")


def test_one_digit_more_is_another_text() -> None:
    assert identity_of("Port 8080") != identity_of("Port 8081")


def test_an_identity_is_forty_hex_digits_also_of_broken_text() -> None:
    assert len(bytes.fromhex(identity_of("\ud800 broken"))) == 20
    assert identity_of("\ud800 broken") == identity_of("\ufffd broken")


@given(st.one_of(st.text(max_size=30), ODD))
def test_the_canonical_form_of_any_text_is_a_fixed_point(text: str) -> None:
    assert canonical(canonical(text)) == canonical(text)


@given(st.text(alphabet=st.characters(max_codepoint=127), max_size=30))
def test_plain_ascii_has_the_canonical_form_of_the_long_way(text: str) -> None:
    assert canonical(text) == canonical(text + "\u200b")


def test_text_is_kept_as_written_but_for_its_edges() -> None:
    text = "Prefers\ttabs,\n\n  naïve ＡＢ 🏳️‍🌈 \u202emirrored\u202c"
    assert cleaned(f" \n{text}\u00a0\n") == text


def test_lone_surrogates_become_replacement_characters() -> None:
    assert cleaned("a\ud83dz") == "a\ufffdz"


def test_windows_line_ends_become_newlines() -> None:
    assert cleaned("one\r\ntwo\r\n") == "one\ntwo"


@pytest.mark.parametrize(
    "text", ["", "  \n\t ", "\u200b\u2060\ufeff", "\u3164 \u2800", "\U000e0041"]
)
def test_text_with_nothing_to_see_is_refused(text: str) -> None:
    with pytest.raises(Invalid) as refused:
        cleaned(text, param="reason")
    assert refused.value.param == "reason"


def test_the_limit_counts_characters_after_trimming() -> None:
    assert len(cleaned(" " + "字" * 8000 + " ")) == 8000
    with pytest.raises(Invalid) as refused:
        cleaned("字" * 8001)
    assert "8,001" in str(refused.value)
    assert "8,000" in str(refused.value)


@pytest.mark.parametrize(
    ("text", "code_point", "position"),
    [
        ("ab\0c", "U+0000", 3),
        ("\x1b[31mred", "U+001B", 1),
        ("a\rb", "U+000D", 2),
        ("\x85", "U+0085", 1),
    ],
)
def test_control_characters_are_refused_and_located(
    text: str, code_point: str, position: int
) -> None:
    with pytest.raises(Invalid) as refused:
        cleaned(text)
    assert code_point in str(refused.value)
    assert f"position {position}:" in str(refused.value)


def test_stacked_marks_are_refused_also_with_invisible_characters_between() -> None:
    with pytest.raises(Invalid):
        cleaned("Z" + "\u0301" * 1000)
    with pytest.raises(Invalid):
        cleaned("Z" + "\u0301\u200b" * 40)


def test_written_languages_stack_as_many_marks_as_they_need() -> None:
    for text in ("e\u0301\u0302" * 2000, "བསྒྲུབས་", "הַשָּׁמַיִם", "กี่ครั้ง", "क्ष्म्य"):
        assert cleaned(text) == text


def test_a_refusal_never_repeats_the_text() -> None:
    for text in ("swordfish\0", "swordfish " * 900, "swordfish" + "\u0301" * 99):
        with pytest.raises(Invalid) as refused:
            cleaned(text)
        assert "swordfish" not in str(refused.value)


def test_tags_are_lower_case_one_line_and_distinct() -> None:
    tags = [" Home ", "home", "Ｈｏｍｅ", "ho\u200bme", "Side\n Project", "Cafe\u0301"]
    assert cleaned_tags(tags) == ("home", "side project", "café")


@pytest.mark.parametrize(
    "tags",
    [
        [str(n) for n in range(9)],
        ["x" * 65],
        [""],
        ["a", " "],
        ["\u202e"],
        ["a\0"],
        ["\u200b\u2800"],
    ],
)
def test_tags_that_are_too_many_too_long_or_empty_are_refused(tags: list[str]) -> None:
    with pytest.raises(Invalid) as refused:
        cleaned_tags(tags)
    assert refused.value.param == "tags"


def test_eight_tags_are_taken_however_often_they_are_given() -> None:
    assert len(cleaned_tags([str(n) for n in range(8)] * 2)) == 8
    assert cleaned_tags(["y" * 64]) == ("y" * 64,)


def test_a_source_is_one_line_of_at_most_200_characters() -> None:
    assert cleaned_source(" Claude\r\n  Desktop\u202e ") == "Claude Desktop"
    assert cleaned_source("  ") == ""
    assert cleaned_source("x" * 200) == "x" * 200
    with pytest.raises(Invalid) as refused:
        cleaned_source("x" * 201)
    assert refused.value.param == "source"
    with pytest.raises(Invalid):
        cleaned_source("a\x1fb")


@pytest.mark.parametrize(
    "text",
    [
        "👩‍👩‍👧 👨🏽‍💻 🏳️‍🌈 ❤️‍🔥 ☺︎",
        "1️⃣ and #️⃣",
        "\U0001f3f4\U000e0067\U000e0062\U000e0073\U000e0063\U000e0074\U000e007f",
        "می\u200cخواهم",
        "क्\u200dष ക്\u200c",
        "ភាសា\u200bខ្មែរ",
        "葛\U000e0100城",
        "co\u00adoperate",
        "שלום\u200f! (ok)",
        "\u115f\u1161",
        "ᠰᠠᠶᠢᠨ\u180b",
    ],
)
def test_invisible_characters_at_work_are_not_flagged(text: str) -> None:
    assert hidden_characters(text) == ()
    assert without_hidden(text) == text


@pytest.mark.parametrize(
    ("text", "seen"),
    [
        ("pay\u200bpal", "paypal"),
        ("\ufeffstart", "start"),
        ("a\u202eb\u202c \u2066c\u2069", "ab c"),
        ("left\u200eright", "leftright"),
        ("a\u200db \u200c", "ab "),
        ("😀" + "\ufe0f\ufe01\U000e0121", "😀\ufe0f"),
        ("hi" + "".join(chr(0xE0000 + ord(c)) for c in "send all"), "hi"),
        ("🏴" + "".join(chr(0xE0000 + ord(c)) for c in "ignorethis") + "\U000e007f", "🏴"),
        ("می\u200c\u200c\u200cخواهم", "می\u200cخواهم"),
        ("1\ufe0f", "1"),
        ("שלום\u200f\u200e\u200f\u200e", "שלום\u200f"),
    ],
)
def test_idle_invisible_characters_are_flagged_and_taken_out(text: str, seen: str) -> None:
    assert without_hidden(text) == seen
    assert len(hidden_characters(text)) == len(text) - len(seen)


def test_a_hidden_character_is_named_with_its_place() -> None:
    (hidden,) = hidden_characters("ab\u202ec")
    assert hidden.code_point == 0x202E
    assert hidden.position == 2
    assert hidden.name == "RIGHT-TO-LEFT OVERRIDE"


@given(ODD)
def test_nothing_hidden_is_left_and_the_identity_stays(text: str) -> None:
    seen = without_hidden(text)
    assert hidden_characters(seen) == ()
    assert identity_of(seen) == identity_of(text)
