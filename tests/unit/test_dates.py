"""Dates that a query names, and how they meet the date of a memory."""

import time
from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keeproom.vault.dates import NamedDate, date_match, named_dates

MAY_8 = date(2023, 5, 8)


def named(query: str) -> list[tuple[int | None, int | None, int | None]]:
    return [(day.year, day.month, day.day) for day in named_dates(query)]


@pytest.mark.parametrize(
    ("query", "dates"),
    [
        ("What happened on 7 May 2023?", [(2023, 5, 7)]),
        ("the 7th of May", [(None, 5, 7)]),
        ("on May 7, 2023", [(2023, 5, 7)]),
        ("On JULY 3rd", [(None, 7, 3)]),
        ("in May 2023", [(2023, 5, None)]),
        ("in May", [(None, 5, None)]),
        ("last August", [(None, 8, None)]),
        ("in June and July of 2022", [(None, 6, None), (2022, 7, None)]),
        ("in 2023", [(2023, None, None)]),
        ("born in 1987", [(1987, None, None)]),
        ("log of 2023-05-08", [(2023, 5, 8)]),
        ("at 2023-05-08T10:00", [(2023, 5, 8)]),
    ],
)
def test_english_and_iso_dates(query: str, dates: list[tuple[int | None, ...]]) -> None:
    assert named(query) == dates


def test_the_finest_level_hides_coarser_ones() -> None:
    assert named("in June 2022, or was it 7 May 2023?") == [(2023, 5, 7)]
    assert named("in March, not in 2021") == [(None, 3, None)]


@pytest.mark.parametrize(
    "query",
    [
        *("May I ask?", "What may she like?", "Chapter 5. May I read it?", "32 May"),
        *("7 June 1850", "call 2023456", "version 10.5.20.1", "port 8080", ""),
        *("mayo on toast", "Julio and Mars", "in Rio de Janeiro"),
    ],
)
def test_what_is_no_date(query: str) -> None:
    assert named(query) == []


@pytest.mark.parametrize(
    ("query", "dates"),
    [
        ("Was war am 8. Mai 2023?", [(2023, 5, 8)]),
        ("im März", [(None, 3, None)]),
        ("Jänner 2024", [(2024, 1, None)]),
        ("el 8 de mayo de 2023", [(2023, 5, 8)]),
        ("en julio", [(None, 7, None)]),
        ("septiembre del 2022", [(2022, 9, None)]),
        ("le 1er août 2023", [(2023, 8, 1)]),
        ("en mars", [(None, 3, None)]),
        ("de\u0301cembre 2023", [(2023, 12, None)]),
        ("l'8 maggio 2023", [(2023, 5, 8)]),
        ("a luglio", [(None, 7, None)]),
        ("em 8 de março", [(None, 3, 8)]),
        ("fevereiro de 2021", [(2021, 2, None)]),
        ("op 8 mei 2023", [(2023, 5, 8)]),
        ("в мае", [(None, 5, None)]),
        ("8 мая 2023 года", [(2023, 5, 8)]),
        ("до марта", [(None, 3, None)]),
        ("2023年5月8日发生了什么", [(2023, 5, 8)]),
        ("５月８日の予定", [(None, 5, 8)]),
        ("去年5月", [(None, 5, None)]),
        ("五月二十一日", [(None, 5, 21)]),
        ("十二月", [(None, 12, None)]),
        ("我在2023年搬家", [(2023, None, None)]),
        ("2023년 5월 8일", [(2023, 5, 8)]),
    ],
)
def test_dates_in_other_languages(query: str, dates: list[tuple[int | None, ...]]) -> None:
    assert named(query) == dates


@pytest.mark.parametrize(
    ("query", "dates"),
    [
        ("8.5.2023", [(2023, 5, 8)]),
        ("am 08. 05. 2023.", [(2023, 5, 8)]),
        ("25/12/2023", [(2023, 12, 25)]),
        ("12/25/2023", [(2023, 12, 25)]),
        ("5/5/2023", [(2023, 5, 5)]),
        ("2023/05/08", [(2023, 5, 8)]),
        ("8/5/2023", [(2023, None, None)]),
        ("2023-13-40", [(2023, None, None)]),
        ("2023-24 season", [(2023, None, None)]),
    ],
)
def test_numbers_are_a_day_only_when_read_in_one_way(
    query: str, dates: list[tuple[int | None, ...]]
) -> None:
    assert named(query) == dates


@pytest.mark.parametrize(
    ("query", "grade"),
    [
        ("on 8 May 2023", 1.0),
        ("on May 7", 1.0),
        ("on 17 May 2023", 0.7),
        ("on 1 June 2023", 0.3),
        ("on 8 July 2023", 0.0),
        ("on 8 May 2022", 0.0),
        ("in May 2023", 0.7),
        ("in May", 0.7),
        ("in May 2022", 0.0),
        ("in April", 0.0),
        ("in 2023", 0.3),
        ("in 2022", 0.0),
        ("at home", 0.0),
    ],
)
def test_the_nearer_the_date_the_better_the_grade(query: str, grade: float) -> None:
    assert date_match(named_dates(query), MAY_8) == grade


def test_the_best_of_several_dates_counts() -> None:
    assert date_match(named_dates("in June or in May"), MAY_8) == 0.7


def test_days_that_do_not_exist_meet_the_end_of_their_month() -> None:
    assert date_match([NamedDate(2023, 2, 31)], date(2023, 2, 28)) == 1.0
    assert date_match(named_dates("29 February 2023"), date(2024, 2, 29)) == 0.0
    assert date_match(named_dates("31 February"), date(2024, 2, 29)) == 1.0


@given(st.text(max_size=60), st.dates())
def test_any_query_has_a_grade(query: str, on: date) -> None:
    assert 0 <= date_match(named_dates(query), on) <= 1


@given(
    st.from_regex(r"\A(\d{1,4}[-./年 ]{1,2}\d{1,2}[-./月 ]{1,2}\d{1,4}[日 ]?){1,2}\Z"), st.dates()
)
def test_any_numbers_have_a_grade(query: str, on: date) -> None:
    assert 0 <= date_match(named_dates(query), on) <= 1


@pytest.mark.parametrize(
    "unit", ["1", "1/", "1.", "5 may ", "may ", "十", "2023年", "9月", "a", "2023-"]
)
def test_long_queries_take_no_longer_than_their_length_warrants(unit: str) -> None:
    started = time.thread_time()
    named_dates((unit * 8000)[:8000])
    assert time.thread_time() - started < 1
