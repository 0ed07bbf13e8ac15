from keeproom.mcp.tokens import snippet, tokens


def test_tokens_are_counted_by_alphabet() -> None:
    assert tokens("abcd" * 10) == 10
    assert tokens("привет") == 3
    assert tokens("日本語です") == 5
    assert tokens("ab日本") == 3
    assert tokens("") == 0


def test_a_short_text_is_its_own_snippet() -> None:
    assert snippet("Ada drinks tea", limit=10) == "Ada drinks tea"


def test_a_snippet_keeps_its_limit_and_ends_between_words() -> None:
    part = snippet("word " * 500, limit=40)

    assert tokens(part) <= 42
    assert part.startswith("word")
    assert part.endswith("word…")


def test_a_snippet_stands_where_most_of_the_query_does() -> None:
    text = "filler " * 200 + "tea in Ankara with lemon " + "filler " * 200 + "tea alone"

    part = snippet(text, limit=30, query="lemon tea Ankara")
    assert "tea in Ankara with lemon" in part
    assert part.startswith("…")
    assert part.endswith("…")


def test_a_text_whose_folded_form_is_longer_starts_at_its_beginning() -> None:
    assert snippet("ẞ" * 10 + " tea" * 100, limit=10, query="tea").startswith("ẞ")


def test_a_text_without_spaces_is_cut_all_the_same() -> None:
    assert tokens(snippet("日本語" * 200, limit=50)) <= 52
