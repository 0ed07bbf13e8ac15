"""Does a text say something else than one it resembles? Similarity cannot tell: a sentence with
another number, name or negation in it stays as near as a rewording."""

import re
from collections.abc import Callable

from keeproom.vault.rivals import IDEOGRAPHIC_RIVALS, ORDERS, rivals
from keeproom.vault.wording import Wording, has_content

type Check = Callable[[Wording, Wording], bool]

_NEGATING_PREFIXES = ("un", "dis", "in", "im", "ir", "non", "des", "не")
# fmt: off
_COMPARISONS = (
    "over", "than", "to", "from", "before", "after", "als", "vor", "nach", "que", "antes",
    "después", "чем", "до",
)
# fmt: on
_IDEOGRAPHIC_COMPARISON = re.compile("比|より|から|前|后|後")
_NOBODY = frozenset({"user", "i"})
_SHORT = 2  # content words exchanged in a small substitution
_SHORT_BY_CHARACTER = 8


def differs(old: str, new: str) -> bool:
    """The two contradict each other, or speak of different things, as far as their words show."""
    left, right = Wording.of(old), Wording.of(new)
    return any(check(left, right) for check in CHECKS)


def adds_something(old: str, new: str) -> bool:
    """Of the content words that are only in one of the two, more are in the new text: they do
    not all stand in place of one in the old."""
    left, right = set(Wording.of(old).content), set(Wording.of(new).content)
    return len(right - left) > len(left - right)


def _other_figures(left: Wording, right: Wording) -> bool:
    """Numbers, versions, addresses, times and dates are not the same on both sides."""
    return left.figures != right.figures


def _one_negated(left: Wording, right: Wording) -> bool:
    """One side says no. (Both may say it in their own way: `never`, `do not`.)"""
    return left.negated != right.negated


def _other_names(left: Wording, right: Wording) -> bool:
    """Each side names somebody or something the other does not."""
    gone, come = _unknown(left.names, right), _unknown(right.names, left)
    if gone and come:
        return True
    return bool(gone and _opens_with_unknown(right, left)) or bool(
        come and _opens_with_unknown(left, right)
    )


def _unknown(names: frozenset[str], other: Wording) -> bool:
    return any(name not in _NOBODY and not _known(name, other) for name in names)


def _known(name: str, other: Wording) -> bool:
    """Also as a part of a word or the other way round: endings and compounds."""
    return name in other.tokens or any(
        name in token or token in name for token in other.tokens if len(token) > 2
    )


def _opens_with_unknown(side: Wording, other: Wording) -> bool:
    name = side.opening.casefold()
    return bool(name) and _unknown(frozenset({name}), other)


def _rivals(left: Wording, right: Wording) -> bool:
    """Each side has a word of a group whose members exclude each other, and not the same one."""
    if any(_exchanged(group & left.stems, group & right.stems) for group in rivals()):
        return True
    return left.by_character and any(
        _exchanged(
            frozenset(word for word in group if word in left.text),
            frozenset(word for word in group if word in right.text),
        )
        for group in IDEOGRAPHIC_RIVALS
    )


def _exchanged(gone: frozenset[str], come: frozenset[str]) -> bool:
    return bool(gone) and bool(come) and gone.isdisjoint(come)


def _negated_word(left: Wording, right: Wording) -> bool:
    """One side has a word, the other the same word with a negating prefix."""
    gone, come = left.stems - right.stems, right.stems - left.stems
    return any(
        prefix + plain in negated
        for plain_side, negated in ((gone, come), (come, gone))
        for plain in plain_side
        if len(plain) > 3
        for prefix in _NEGATING_PREFIXES
    )


def _small_substitution(left: Wording, right: Wording) -> bool:
    """The same sentence but for a few words in one place, and none of these in common."""
    by_character = left.by_character or right.by_character
    gone, come, kept = _middle(left.content, right.content)
    longest = _SHORT_BY_CHARACTER if by_character else _SHORT
    half = min(len(left.content), len(right.content)) / 2
    enough = half if by_character else min(half, _SHORT)
    if not gone or not come or max(len(gone), len(come)) > longest or kept < enough:
        return False
    # Two Chinese or Japanese names may share a character by chance.
    return by_character or set(gone).isdisjoint(come)


def _middle(
    left: tuple[str, ...], right: tuple[str, ...]
) -> tuple[tuple[str, ...], tuple[str, ...], int]:
    """What is left of each between their common beginning and end, and the length of these."""
    shortest, start, end = min(len(left), len(right)), 0, 0
    while start < shortest and left[start] == right[start]:
        start += 1
    while end < shortest - start and left[-1 - end] == right[-1 - end]:
        end += 1
    return left[start : len(left) - end], right[start : len(right) - end], start + end


def _turned_comparison(left: Wording, right: Wording) -> bool:
    """`A over B` against `B over A`, `before A` against `after A`."""
    if left.by_character and sorted(left.content) == sorted(right.content):
        turned = left.content != right.content
        return turned and _IDEOGRAPHIC_COMPARISON.search(left.text) is not None
    turned = any(
        _exchanged(gone := left.after(word), come := right.after(word))
        and gone <= right.stems
        and come <= left.stems
        for word in _COMPARISONS
    )
    return turned or any(
        first in left.units and second in right.units and left.after(first) & right.after(second)
        for order in ORDERS
        for first, second in (sorted(order), sorted(order, reverse=True))
    )


def _subject_swap(left: Wording, right: Wording) -> bool:
    """Each opens with a name, another one, that the other text has elsewhere: who does it to
    whom has changed."""
    first, second = left.opening, right.opening
    return bool(first and second) and (
        first != second and first in right.written and second in left.written
    )


def _two_exchanged(left: Wording, right: Wording) -> bool:
    """The same words in the same order, but for two that have changed places across others."""
    if left.by_character:
        return False
    gone, come, _ = _middle(left.units, right.units)
    # Across stop words alone it may be a list: "React and Vite", "Vite and React".
    across = any(map(has_content, gone[1:-1]))
    return across and (come[-1:], come[1:-1], come[:1]) == (gone[:1], gone[1:-1], gone[-1:])


CHECKS: tuple[Check, ...] = (
    _other_figures,
    _one_negated,
    _other_names,
    _rivals,
    _negated_word,
    _small_substitution,
    _turned_comparison,
    _subject_swap,
    _two_exchanged,
)
