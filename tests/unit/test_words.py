"""What a text is found by: the same words however they are written."""

import threading
import time
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keeproom.vault.words import STOP_WORDS, query_terms, script_of, stem, terms


def finds(query: str, text: str) -> bool:
    """Every term of the query is one of the text's."""
    asked = query_terms(query)
    return bool(asked) and set(asked) <= set(terms(text))


def test_words_are_stemmed_in_order_and_as_often_as_they_occur() -> None:
    assert terms("Editors: he edits, she edited.") == ["editor", "he", "edit", "she", "edit"]


def test_stop_words_stay_in_a_text_and_leave_a_query() -> None:
    assert terms("the cat is on the mat") == ["the", "cat", "is", "on", "the", "mat"]
    assert query_terms("Where is the cat on the mat?") == ["cat", "mat"]


def test_a_query_of_stop_words_alone_keeps_them() -> None:
    assert query_terms("The Who") == ["the", "who"]
    assert query_terms("don't") == ["don", "t"]


def test_contractions_and_elided_articles_leave_a_query() -> None:
    assert query_terms("What's Anna’s dog called, and why didn't she say?") == [
        "anna",
        "dog",
        "call",
        "sai",
    ]
    assert query_terms("l'ordinateur d’Ana") == ["ordinateur", "ana"]
    assert query_terms("Dell's laptop") == ["dell", "laptop"]


@pytest.mark.parametrize(
    ("query", "kept"),
    [
        ("Wie heißt der Hund?", ["heisst", "hund"]),
        ("¿Dónde está la impresora?", ["impresora"]),
        ("Dove sono le chiavi della macchina?", ["le", "chiavi", "macchina"]),
        ("Quels outils avec Docker", ["outil", "docker"]),
        ("Onde fica meu carro", ["fica", "carro"]),
        ("Какой у меня сервер для тестов?", ["мен", "сервер", "тест"]),
    ],
)
def test_other_languages_lose_their_plain_function_words(query: str, kept: list[str]) -> None:
    assert query_terms(query) == kept


@pytest.mark.parametrize("word", ["die", "war", "son", "pour", "dos", "come", "ton", "os"])
def test_words_that_mean_something_in_english_are_no_stop_words(word: str) -> None:
    assert word not in STOP_WORDS
    assert query_terms(f"the {word}") == [stem(word)]


@pytest.mark.parametrize(
    ("query", "text"),
    [
        ("cafe", "The Café in Malmö"),
        ("malmö", "the cafe in Malmo"),
        ("strasse", "Berliner Straße 5"),
        ("Lodz", "Lives in Łódź"),
        ("елка", "Новогодняя ёлка"),
        ("ｐｏｓｔｇｒｅｓ", "postgres"),
        ("データ", "ﾃﾞｰﾀ"),
        ("محمد", "مُحَمَّد"),
        ("خواهم", "خواهم\u200c"),
        ("password", "pass\u200bword"),
        ("running", "he runs; a run"),
        ("серверы", "на сервере"),
    ],
)
def test_accents_width_and_inflection_do_not_hide_a_word(query: str, text: str) -> None:
    assert finds(query, text)


@pytest.mark.parametrize(
    "text", ["Zürich café Łódź", "한국어 파일", "がぎぐ データ", "йод Ёж", "क़लम", "ที่นี่"]
)
def test_composed_and_decomposed_text_have_the_same_terms(text: str) -> None:
    composed, apart = (unicodedata.normalize(form, text) for form in ("NFC", "NFD"))
    assert terms(composed) == terms(apart)
    assert query_terms(composed) == query_terms(apart)


def test_voicing_makes_another_japanese_word() -> None:
    assert not finds("かき", "かぎ")


@pytest.mark.parametrize(
    ("text", "queries"),
    [
        ("set max_connections to 200", ["max_connections", "max connections", "connections"]),
        ("call getUserName first", ["getUserName", "getusername", "user name"]),
        ("the XMLHttpRequest object", ["xmlhttprequest", "http request"]),
        ("upgraded to v1.2.3", ["v1.2.3", "1.2.3"]),
        ("server 10.0.0.12 is up", ["10.0.0.12"]),
        (
            "see https://git.example.com/a/b?x=1.",
            ["https://git.example.com/a/b?x=1", "git.example.com"],
        ),
        ("write to ann.lee@example.org", ["ann.lee@example.org", "ann.lee", "lee", "example.org"]),
        ("well-known pro-life", ["well-known", "known"]),
        ("written in C++ and C#", ["c++", "C#"]),
        ("user_name.first on my-host.lan", ["user_name", "my-host", "name"]),
        ("uses std::vector and C:\\temp", ["std::vector", "vector", "temp"]),
        ("has 16GB on python3", ["16gb", "16 GB", "python 3"]),
        ("earns 12,500 a year", ["12500", "12,500"]),
        ("the APIs of OAuth2", ["api", "oauth2"]),
        ("the file __init__.py", ["__init__", "init", "__init__.py"]),
        ("AT&T and R&D", ["at&t", "R&D"]),
        ("нужен API-ключ", ["api", "ключ", "API-ключ"]),
    ],
)
def test_identifiers_are_found_whole_and_by_their_parts(text: str, queries: list[str]) -> None:
    for query in queries:
        assert finds(query, text), query


def test_a_version_does_not_find_its_neighbour() -> None:
    assert not finds("v1.2.3", "upgraded to v1.2.4")
    assert not finds("10.0.0.12", "10.0.0.13")


@pytest.mark.parametrize(
    ("query", "text"),
    [
        ("猫", "他养了一只猫"),
        ("模式", "用户喜欢深色模式"),
        ("深色模式", "用户喜欢深色模式。"),
        ("PostgreSQL", "我们用PostgreSQL数据库"),
        ("数据库", "我们用PostgreSQL数据库"),
        ("2023年", "2023年5月"),
        ("練習", "オーケストラの練習は火曜日"),
        ("オーケストラ", "オーケストラの練習は火曜日"),
        ("すし", "すしが好き"),
        ("집", "집에서 일한다"),
        ("한국", "한국어를 공부한다"),
        ("한국어를", "한국어를 공부한다"),
        ("ไทย", "ภาษาไทย"),
        ("ດີ", "ສະບາຍດີ"),
        ("ខ្មែរ", "ភាសាខ្មែរ"),
        ("दुनिया", "नमस्ते दुनिया"),
    ],
)
def test_scripts_without_spaces_are_found_by_short_words(query: str, text: str) -> None:
    assert finds(query, text)


def test_a_chinese_query_is_asked_in_pairs() -> None:
    assert query_terms("深色模式") == ["深色", "色模", "模式"]
    assert query_terms("猫") == ["猫"]


def test_query_terms_are_distinct() -> None:
    assert query_terms("dog dogs Dog DOGS") == ["dog"]


def test_a_long_compound_is_found_by_its_parts_and_a_long_word_by_its_start() -> None:
    path = "/".join(f"folder{n}" for n in range(40))
    assert finds("folder39", path)
    assert max(map(len, terms(path + " " + "x" * 5000))) == 128
    assert finds("x" * 5000, "x" * 5000)


def test_a_stem_takes_a_word_as_it_is_written() -> None:
    assert stem("Läufers") == stem("laufer")
    assert stem("Серверы") == stem("сервере")
    assert stem("v1.2.3") == "v1.2.3"
    assert stem("is") == "is"


def test_threads_stem_alike() -> None:
    letters = "abcdefghijklmnopqrstuvwxyz"
    stems = [f"b{one}r{two}ark" for one in letters for two in letters]
    words = [f"{word}ings" for word in stems]
    answers: list[list[str]] = []
    threads = [
        threading.Thread(target=lambda: answers.append([stem(word) for word in words]))
        for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert answers == [stems] * 4


@pytest.mark.parametrize(
    ("text", "script"),
    [
        ("The user likes tea", "latin"),
        ("Größe übermäßig ＡＢＣ", "latin"),
        ("Пользователь любит Docker", "cyrillic"),
        ("用户喜欢深色模式", "han"),
        ("用户最喜欢的歌是日本歌手演唱的那一首歌叫做桜の", "han"),
        ("東京のオフィスで働く", "kana"),
        ("ﾃﾞｰﾀ", "kana"),
        ("서울에서 일한다", "hangul"),
        ("يفضل المستخدم الشاي", "arabic"),
        ("उपयोगकर्ता को चाय पसंद है", "devanagari"),
        ("Ο χρήστης", "other"),
        ("10.0.0.12", "other"),
        ("", "other"),
    ],
)
def test_the_script_is_that_of_most_letters(text: str, script: str) -> None:
    assert script_of(text) == script


@given(st.text(max_size=60))
def test_any_text_finds_itself(text: str) -> None:
    found = terms(text)
    assert all(found)
    assert set(query_terms(text)) <= set(found)
    assert script_of(text)


@pytest.mark.parametrize(
    "unit",
    [
        *("a", "aB", "a.", "a/", "_", "://", "'", "a'b", "l'", "1,000", "C++", "v1.", "А1"),
        *("深", "한", "ที่", "क्षि", "e\u0301", "\ufdfa", "\u200b", "😀", "\ud800"),
    ],
)
def test_long_odd_text_takes_no_longer_than_its_length_warrants(unit: str) -> None:
    text = (unit * 8000)[:8000]
    started = time.thread_time()
    terms(text)
    query_terms(text)
    script_of(text)
    assert time.thread_time() - started < 2
