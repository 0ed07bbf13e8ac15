"""Words that take each other's place: of two texts alike that name different ones, one is out of
date. Ordinary words only; names and numbers are compared as such."""

from functools import cache

from keeproom.vault.words import stem

# "The A before the B" is "the B after the A": these depend on what follows them.
ORDERS: tuple[frozenset[str], ...] = tuple(
    frozenset(pair.split()) for pair in ("before after", "vor nach", "antes después", "до после")
)

_GROUPS = """
light dark
morning noon afternoon evening night midnight
breakfast lunch dinner
up down
above below
inside outside
indoors outdoors
left right
north south east west
enable disable
love hate
like dislike
always usually often sometimes rarely never
once twice
everybody somebody nobody
everything something nothing
allow forbid block
recommend deprecate
require optional
accept reject
approve reject
short long
on off
open close
start stop
begin end
arrive leave
increase decrease
raise lower
hot cold warm cool
first last
earlier later
early late
more less fewer
most least
maximum minimum
public private
internal external
old new
cheap expensive
fast slow
big small
large small
high low
heavy light
full empty
wet dry
rich poor
strong weak
easy hard
same different
import export
buy sell
lend borrow
win lose
alive dead
married single divorced
pass fail
online offline
manual automatic
sync async
weekday weekend
hourly daily weekly monthly quarterly yearly
today tomorrow yesterday
spring summer autumn winter
brother sister
mother father
son daughter
wife husband
aunt uncle
boyfriend girlfriend
dog cat
kilometre mile
dollar euro pound franc
red orange yellow green blue purple pink brown black white grey
hell dunkel
morgens mittags nachmittags abends nachts
früh spät
immer oft manchmal selten nie
links rechts
oben unten
innen außen
mag hasst
liebt hasst
erlaubt verboten
täglich wöchentlich monatlich jährlich
bruder schwester
mutter vater
sohn tochter
claro oscuro
mañana tarde noche
siempre nunca
izquierda derecha
dentro fuera
ama odia
permitido prohibido
hermano hermana
madre padre
hijo hija
светлый темный
утром днем вечером ночью
всегда иногда никогда
слева справа
внутри снаружи
любит ненавидит
разрешено запрещено
брат сестра
мать отец
сын дочь
"""
IDEOGRAPHIC_RIVALS: tuple[tuple[str, ...], ...] = (
    ("早上", "上午", "中午", "下午", "晚上"),
    ("朝", "昼", "夕方", "夜"),
    ("浅色", "深色"),
    ("ライト", "ダーク"),
    ("喜欢", "讨厌"),
    ("好き", "嫌い"),
    ("允许", "禁止"),
    ("許可", "禁止"),
    ("之前", "之后"),
    ("公开", "私有"),
    ("内部", "外部"),
    ("启用", "禁用"),
    ("有効", "無効"),
    ("每天", "每周", "每月", "每年"),
    ("毎日", "毎週", "毎月", "毎年"),
    ("左", "右"),
)


@cache
def rivals() -> tuple[frozenset[str], ...]:
    """Stems of the words of each group."""
    return tuple(
        frozenset(stem(word) for word in line.split()) for line in _GROUPS.split("\n") if line
    )
