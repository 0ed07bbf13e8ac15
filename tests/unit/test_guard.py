import pytest

from keeproom.engines.pairs import labelled_pairs, superset_pairs
from keeproom.vault.calibrate import Label
from keeproom.vault.figures import figures
from keeproom.vault.guard import adds_something, differs

UPDATES = {
    "a number": ("The cluster has 6 nodes.", "The cluster has 9 nodes."),
    "a number word": ("Merging needs two approvals.", "Merging needs one approval."),
    "a version": ("The router runs firmware v3.0.4.", "Firmware v3.1.0 runs on the router."),
    "an address": ("The printer is at 10.2.4.17.", "The printer is at 10.2.4.71."),
    "half of the day": ("The train leaves at 7 am.", "The train leaves at 7 pm."),
    "a date": ("The wedding in Bath is on 12 June.", "On 19 June there is a wedding in Bath."),
    "a weekday": ("The dentist expects Ana on Monday.", "Ana sees the dentist on Wednesday."),
    "a path": ("Settings are in /etc/app/main.toml.", "/etc/app/local.toml has the settings."),
    "a mail address": ("Write to lamy@example.org.", "The address is petit@example.org."),
    "a negation": ("The user eats meat.", "The user doesn't eat meat."),
    "a negating prefix": ("The user is satisfied with it.", "With it, the user is dissatisfied."),
    "a name inside": ("The user's manager is Tom.", "The user is managed by Sarah."),
    "a name in front": ("Maria is the owner of Atlas.", "The Atlas owner is Jonas."),
    "an antonym": ("The heating goes on in autumn.", "In autumn they turn the heating off."),
    "a frequency": ("Backups run weekly on the server.", "On the server, backups run daily."),
    "one of two words": ("The garage is dirty.", "The garage is clean."),
    "a word": ("The user's preferred shell is fish.", "The user's preferred shell is zsh."),
    "sides of a comparison": ("The user likes tabs over spaces.", "He likes spaces over tabs."),
    "the order": ("Run the tests before the deploy.", "Run the tests after the deploy."),
    "the route": ("She moved from Porto to Lyon.", "She moved from Lyon to Porto."),
    "the subject": ("Ravi looks after the twins for Chen.", "Chen looks after them for Ravi."),
    "two places": ("Olga gets the report, then Peter.", "Peter gets the report, then Olga."),
    "German negation": ("Die Nutzerin mag Kaffee.", "Die Nutzerin mag keinen Kaffee."),
    "German time": ("Sie arbeitet nachts im Hafen.", "Im Hafen arbeitet sie morgens."),
    "Spanish negation": ("El servidor es accesible.", "El servidor no es accesible."),
    "Spanish weekday": ("La reunión es el lunes.", "El martes hay reunión."),
    "Russian negation": ("Пользователь ест мясо.", "Мясо пользователь не ест."),
    "Russian weekday": ("Встреча во вторник.", "В среду будет встреча."),
    "Russian swap": ("Анна пишет, а Ольга читает.", "Ольга пишет, а Анна читает."),
    "Chinese negation": ("用户吃肉。", "用户不吃肉。"),
    "Chinese number": ("用户家里有两个孩子。", "用户的孩子有三个。"),
    "Chinese comparison": ("苹果比梨便宜。", "梨比苹果便宜。"),
    "Chinese weekday": ("我们每周四部署。", "每星期五我们部署。"),
    "Japanese negation": ("ユーザーはお酒を飲む。", "ユーザーはお酒を飲まない。"),
    "Japanese name": ("ユーザーは東京で働いている。", "ユーザーは大阪で働いている。"),
    "Japanese time": ("木曜日の朝に散歩する。", "木曜日は夜に散歩に行く。"),
}

REWORDINGS = {
    "turned round": ("The spare tyre is in the garage.", "In the garage is the spare tyre."),
    "passive": ("Nina runs the billing team.", "The billing team is run by Nina."),
    "no in two ways": ("Never push to the main branch.", "Do not push to main."),
    "contraction": ("The user doesn't eat fish.", "User eats no fish."),
    "can't": ("Telemetry cannot be turned off.", "Telemetry can't be turned off."),
    "number in words": ("Two kids live at home.", "At home live 2 kids."),
    "thousands": ("The budget is 1,500 euros a month.", "Every month the budget is 1500 euros."),
    "plural weekday": ("The red team deploys on Thursday.", "On Thursdays the red team deploys."),
    "may is no month": ("You may book by phone.", "Booking by phone is possible."),
    "clause moved": ("After lunch she takes a walk.", "She takes a walk after lunch."),
    "before and after": ("The tests run before the deploy.", "The deploy runs after the tests."),
    "list turned": (
        "It is built with React and Vite.",
        "Vite and React are what it is built with.",
    ),
    "German": ("Der Nutzer trinkt keinen Alkohol.", "Alkohol trinkt der Nutzer nicht."),
    "Chinese weekday": ("我们每周四部署到生产环境。", "部署到生产环境，我们安排在每个星期四。"),
    "Japanese certainty": ("必ずバックアップを取る。", "バックアップを必ず取る。"),
    "Russian": ("Каждое утро он бегает в парке.", "Он бегает в парке каждое утро."),
}


@pytest.mark.parametrize(("old", "new"), UPDATES.values(), ids=UPDATES.keys())
def test_an_update_is_told_from_a_rewording(old: str, new: str) -> None:
    assert differs(old, new)
    assert differs(new, old)


@pytest.mark.parametrize(("old", "new"), REWORDINGS.values(), ids=REWORDINGS.keys())
def test_a_rewording_is_no_difference(old: str, new: str) -> None:
    assert not differs(old, new)
    assert not differs(new, old)


def test_every_shipped_update_is_noticed() -> None:
    updates = [pair for pair in labelled_pairs() if pair.label is Label.UPDATE]
    assert len(updates) == 83
    assert not [pair.b for pair in updates if not differs(pair.a, pair.b)]


def test_most_shipped_rewordings_are_no_difference() -> None:
    same = [pair for pair in labelled_pairs() if pair.label is Label.SAME]
    assert sum(differs(pair.a, pair.b) for pair in same) <= 0.1 * len(same)


def test_a_text_says_nothing_else_than_itself() -> None:
    texts = {text for pair in labelled_pairs() for text in (pair.a, pair.b)}
    assert not [text for text in texts if differs(text, text) or adds_something(text, text)]


def test_every_shipped_superset_adds_something() -> None:
    pairs = superset_pairs()
    assert len(pairs) == 72
    assert not [pair.b for pair in pairs if not adds_something(pair.a, pair.b)]


def test_what_is_only_left_out_adds_nothing() -> None:
    assert not [pair.a for pair in superset_pairs() if adds_something(pair.b, pair.a)]


def test_a_word_in_place_of_another_adds_nothing() -> None:
    assert not adds_something("The user's mother lives in Leeds.", "The user's mom lives in Leeds.")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Two of the 3 disks", {"2", "3"}),
        ("v3.1 costs 1,500.", {"3.1", "1500"}),
        ("10.0.0.12 and 2025-12-31", {"10.0.0.12", "2025-12-31"}),
        ("at -5 degrees, HL-2350", {"-5", "2350"}),
        ("at 7 PM", {"7pm"}),
        ("14 March", {"14", "month3"}),
        ("in May, they may march", {"month5"}),
        ("May we?", set[str]()),
        ("am Donnerstag, 3. März", {"weekday4", "3", "month3"}),
        ("el miércoles de agosto", {"weekday3", "month8"}),
        ("в среду, в августе", {"weekday3", "month8"}),
        ("среднее средство", set[str]()),
        ("星期天有两个人", {"weekday7", "2"}),
        ("木曜日に五回", {"weekday4", "5"}),
        ("１２時", {"12"}),
    ],
)
def test_figures_are_read_however_they_are_written(text: str, expected: set[str]) -> None:
    assert figures(text) == expected


def test_long_and_odd_texts_are_compared_too() -> None:
    odd = "a" * 5_000 + " " + "A/" * 2_000 + "\ufdfa" * 50 + " '’.-#@"
    assert not differs(odd, odd)
    assert not differs("", "")
    assert differs(odd, odd + " 7")
