"""A noun as the attributes of an item, and back.

Texts, numbers and bytes stay as they are, times and dates become ISO texts, everything nested
becomes one JSON text. What is empty and empty by default is left out; an unknown attribute is
ignored and a missing one takes its default, so that a noun may grow.
"""

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import MISSING, Field, dataclass, fields, is_dataclass
from datetime import date, datetime
from enum import StrEnum
from functools import cache, partial
from types import NoneType, UnionType
from typing import TYPE_CHECKING, Any, cast, get_args, get_origin, get_type_hints

from keeproom.clock import iso
from keeproom.engines.item_store.table import Value

if TYPE_CHECKING:
    from _typeshed import DataclassInstance


type _Read = Callable[[Any], Any]

_parse = json.JSONDecoder().raw_decode  # of our own compact texts: twice as fast as json.loads


@dataclass(frozen=True, slots=True)
class _Codec:
    """`read` is None where it would change nothing: reading is most of what a recall does."""

    write: Callable[[Any], Any]
    read: _Read | None


@dataclass(frozen=True, slots=True)
class _Attribute:
    name: str
    default: object
    codec: _Codec


def pack(noun: "DataclassInstance") -> dict[str, Value]:
    """The noun's attributes by name."""
    shape = _shape(type(noun))
    found = ((one, getattr(noun, one.name)) for one in shape)
    return {one.name: one.codec.write(value) for one, value in found if not _spare(value, one)}


def unpack[T: DataclassInstance](kind: type[T], attributes: Mapping[str, Any], **more: object) -> T:
    """The noun again. `more`: fields that lie elsewhere."""
    found = more
    for name, read in _readers(kind):
        if name in attributes:
            value = attributes[name]
            found[name] = value if read is None else read(value)
    return kind(**found)


def text_of(plain: object) -> str:
    """Compact JSON, readable where every character can be encoded. A lone surrogate cannot."""
    text = json.dumps(plain, ensure_ascii=False, separators=(",", ":"))
    try:
        text.encode()
    except UnicodeEncodeError:
        return json.dumps(plain, separators=(",", ":"))
    return text


def _spare(value: object, attribute: _Attribute) -> bool:
    """Numbers are kept even when 0: conditions compare them."""
    return not value and type(value) is not int and value == attribute.default


@cache
def _shape(kind: "type[DataclassInstance]") -> tuple[_Attribute, ...]:
    hints = get_type_hints(kind)
    return tuple(
        _Attribute(one.name, _default(one), _flat(hints[one.name])) for one in fields(kind)
    )


@cache
def _readers(kind: "type[DataclassInstance]") -> tuple[tuple[str, _Read | None], ...]:
    return tuple((one.name, one.codec.read) for one in _shape(kind))


def _default(one: Field[Any]) -> object:
    return one.default if one.default_factory is MISSING else one.default_factory()


def _flat(hint: object) -> _Codec:
    """As a value of an item."""
    codec, whole = _codec(hint), _bare(hint)
    if get_origin(whole) is None and not is_dataclass(whole):
        return codec
    read = codec.read or _same
    return _Codec(lambda value: text_of(codec.write(value)), lambda value: read(_parse(value)[0]))


def _codec(hint: object) -> _Codec:
    """As plain JSON."""
    hint = _bare(hint)
    kind, inner = get_origin(hint), get_args(hint)
    if kind is dict:
        return _Codec(dict, None)
    if kind in (tuple, frozenset):
        return _many(kind, _codec(inner[0]))
    if isinstance(hint, type) and is_dataclass(hint):
        return _Codec(pack, partial(unpack, hint))
    return _SCALARS.get(hint) or _choice(cast("type[StrEnum]", hint))


def _choice(kind: type[StrEnum]) -> _Codec:
    return _Codec(str, {str(one): one for one in kind}.__getitem__)


def _many(kind: type[tuple[Any, ...]] | type[frozenset[Any]], item: _Codec) -> _Codec:
    def write(values: Iterable[object]) -> list[Any]:
        plain = [item.write(value) for value in values]
        return sorted(plain) if kind is frozenset else plain

    def read(plain: Iterable[object]) -> object:
        return kind(plain if item.read is None else map(item.read, plain))

    return _Codec(write, read)


def _bare(hint: object) -> object:
    """Without the `| None`: what is None is left out."""
    if get_origin(hint) is UnionType:
        return next(one for one in get_args(hint) if one is not NoneType)
    return hint


def _same[T](value: T) -> T:
    return value


_SCALARS: dict[Any, _Codec] = {
    str: _Codec(_same, None),
    int: _Codec(_same, None),
    bytes: _Codec(_same, None),
    float: _Codec(repr, float),  # exact, and no table rounds a text
    bool: _Codec(int, bool),
    datetime: _Codec(iso, datetime.fromisoformat),
    date: _Codec(date.isoformat, date.fromisoformat),
}
