"""What every grant store does, wherever it lies."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from uuid import uuid4

import pytest

from keeproom.aws import grant_store as aws_grant_store
from keeproom.aws.memory_store import DynamoTable
from keeproom.engines.grant_store import ItemGrantStore
from keeproom.engines.item_store.table import Table
from keeproom.errors import Contended, Invalid
from keeproom.local import grant_store
from keeproom.local.memory_store import SqliteTable
from keeproom.oauth.model import (
    ALL,
    AuditEntry,
    AuthMethod,
    Change,
    Client,
    Code,
    Count,
    Finished,
    Grant,
    Kind,
    Noun,
    Pending,
    Permission,
    Scope,
    ServiceToken,
    Session,
    Token,
    Use,
)
from keeproom.pages import every
from tests.contract.tables import Interrupted
from tests.dynamo import emulator
from tests.dynamo.paper import PaperClient

AT = datetime(2026, 11, 30, 12, 0, 0, 123_000, tzinfo=UTC)
LATER = AT + timedelta(hours=1)

CLIENT = Client(
    id="https://app.example/client.json?v=1",
    name="Žluťoučký 🐎",
    redirect_uris=("http://127.0.0.1/cb", "cursor://anysphere/cb"),
    auth_method=AuthMethod.NONE,
    created=AT,
    verified_by="app.example",
    flagged=True,
    fresh_until=LATER,
)
GRANT = Grant(
    id="grt_1",
    client_id=CLIENT.id,
    client_name=CLIENT.name,
    verified_by="app.example",
    redirect_host="127.0.0.1:80",
    vault="personal",
    permissions=frozenset({Permission.READ, Permission.PROPOSE}),
    resource="http://localhost:8787/mcp",
    created=AT,
    expires=LATER,
    anchor="a" * 64,
)
NOUNS: list[Noun] = [
    CLIENT,
    replace(CLIENT, id="cli_1", secret_hash="b" * 64, verified_by="", expires=LATER),
    GRANT,
    replace(GRANT, id="grt_2", revoked=AT, permissions=ALL),
    Use(id="grt_1", last_used=AT, failures=3, last_failure=AT, reason="expired"),
    Use(id="grt_2"),
    Pending(
        id="p1",
        browser="c" * 64,
        client_id=CLIENT.id,
        redirect_uri="http://127.0.0.1:5/cb",
        explicit=True,
        state="a b&c",
        challenge="d" * 43,
        asked=ALL,
        resource=GRANT.resource,
        expires=LATER,
    ),
    Code(
        id="e" * 64,
        grant_id="grt_1",
        client_id=CLIENT.id,
        redirect_uri="cursor://anysphere/cb",
        explicit=False,
        challenge="d" * 43,
        resource=GRANT.resource,
        good_until=AT,
        expires=LATER,
        used=True,
    ),
    Token(
        id="f" * 64,
        kind=Kind.REFRESH,
        grant_id="grt_1",
        client_id=CLIENT.id,
        resource=GRANT.resource,
        expires=LATER,
        parent="a" * 64,
        narrowed=frozenset({Permission.READ}),
    ),
    Count(id="register:2026-11-30", count=4, expires=LATER),
    Session(
        id="1" * 64,
        address="owner@example.com",
        issuer="https://id.example",
        created=AT,
        expires=LATER,
    ),
    Finished(id="2" * 64, expires=LATER),
    ServiceToken(id="tok_1", hash="3" * 64, name="backup 🐎", scopes=frozenset(Scope), created=AT),
    ServiceToken(
        id="tok_2",
        hash="4" * 64,
        name="x",
        scopes=frozenset({Scope.READ}),
        created=AT,
        expires=LATER,
        last_used=AT,
    ),
]


@pytest.fixture(params=["sqlite", "paper", "dynamo"])
def table(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Table]:
    """Empty: a grant store has the whole of it."""
    if request.param == "sqlite":
        made: Table = SqliteTable(tmp_path / "grants.db")
    elif request.param == "paper":
        made = DynamoTable(PaperClient(), "grants")
    else:
        client = emulator.client(request.getfixturevalue("endpoint"))
        made = DynamoTable(client, emulator.new_table(client))
    with closing(made):
        yield made


@pytest.fixture
def store(table: Table) -> ItemGrantStore:
    return ItemGrantStore(table)


def entry(verb: str = "approve", *, n: int = 0) -> AuditEntry:
    at = AT + timedelta(seconds=n)
    return AuditEntry(id=f"aud_{uuid4().hex}", at=at, actor="owner", verb=verb, subject="grt_1")


def stored(store: ItemGrantStore, noun: Noun) -> Noun | None:
    return store.find(type(noun), noun.id)


def test_what_is_put_is_found_as_it_was(store: ItemGrantStore) -> None:
    store.commit(Change(put=tuple(NOUNS)))

    for noun in NOUNS:
        assert stored(store, noun) == replace(noun, revision=1)


@pytest.mark.parametrize("id", ["", "nothing", "a#b", "\udc00", "x" * 501, "a\nb", "ä"])
def test_what_is_not_there_is_not_found(store: ItemGrantStore, id: str) -> None:
    store.commit(Change(put=(CLIENT,)))

    assert store.find(Client, id) is None


def test_a_noun_is_changed_at_the_revision_it_was_read_at(store: ItemGrantStore) -> None:
    store.commit(Change(put=(GRANT,)))
    one = replace(GRANT, revision=1)

    store.commit(Change(put=(replace(one, vault="work"),)))
    for stale in (GRANT, one):
        with pytest.raises(Contended):
            store.commit(Change(put=(replace(stale, vault="home"),)))
    assert stored(store, GRANT) == replace(GRANT, vault="work", revision=2)


def test_a_change_is_made_whole_or_not_at_all(store: ItemGrantStore) -> None:
    store.commit(Change(put=(CLIENT, GRANT)))
    client, grant = replace(CLIENT, revision=1), replace(GRANT, revision=1)
    use, stale = Use(id="grt_1"), replace(GRANT, revision=7)

    for change in (
        Change(put=(use, stale)),
        Change(put=(use,), drop=(client, stale)),
        Change(put=(use,), drop=(client,), same=(stale,)),
        Change(put=(use,), drop=(client,), same=(stale,), entry=entry()),
    ):
        with pytest.raises(Contended):
            store.commit(change)

    assert stored(store, use) is None
    assert stored(store, CLIENT) == client
    assert store.audit().items == ()
    store.commit(Change(put=(use,), drop=(client,), same=(grant,), entry=entry()))
    assert stored(store, CLIENT) is None


def test_of_many_who_use_a_code_at_once_one_does(store: ItemGrantStore) -> None:
    code = next(noun for noun in NOUNS if isinstance(noun, Code))
    store.commit(Change(put=(replace(code, used=False),)))
    read = store.find(Code, code.id)
    assert read is not None

    def use(n: int) -> bool:
        try:
            store.commit(Change(put=(replace(read, used=True), Use(id=f"grt_{n}"))))
        except Contended:
            return False
        return True

    with ThreadPoolExecutor(8) as pool:
        won = list(pool.map(use, range(8)))
    assert won.count(True) == 1
    assert len(store.page(Use).items) == 1


def test_a_credential_is_the_token_its_grant_and_its_use(store: ItemGrantStore) -> None:
    token = next(noun for noun in NOUNS if isinstance(noun, Token))
    assert store.credential(token.id) is None
    store.commit(Change(put=(token,)))
    assert store.credential(token.id) is None, "a token without a grant is none"

    store.commit(Change(put=(GRANT,)))
    found = store.credential(token.id)
    assert found is not None
    assert (found.token.id, found.grant.id, found.use) == (token.id, "grt_1", Use(id="grt_1"))
    store.commit(Change(put=(Use(id="grt_1", failures=2),)))
    found = store.credential(token.id)
    assert found is not None
    assert found.use.failures == 2


def test_lists_are_paged_to_their_end(store: ItemGrantStore) -> None:
    for n in range(7):
        store.commit(Change(put=(replace(GRANT, id=f"grt_{n}"), Use(id=f"grt_{n}"))))

    seen = every(lambda cursor: store.page(Grant, cursor=cursor, limit=3))
    assert [grant.id for grant in seen] == [f"grt_{n}" for n in range(7)]
    assert store.page(Grant, limit=7).next == ""


def test_a_cursor_of_another_list_is_refused(store: ItemGrantStore) -> None:
    for n in range(3):
        store.commit(Change(put=(replace(GRANT, id=f"grt_{n}"),)))

    cursor = store.page(Grant, limit=1).next
    with pytest.raises(Invalid):
        store.page(Client, cursor=cursor)
    with pytest.raises(Invalid):
        store.page(Grant, limit=0)


def test_the_audit_is_newest_first_and_whole(store: ItemGrantStore) -> None:
    assert store.audit_faults() == []
    for n, verb in enumerate(["approve", "change", "revoke"]):
        store.commit(Change(entry=entry(verb, n=n)))

    assert [one.verb for one in store.audit().items] == ["revoke", "change", "approve"]
    assert store.audit_faults() == []


def test_entries_written_at_once_are_all_in_the_chain(store: ItemGrantStore) -> None:
    def decide(n: int) -> None:
        store.commit(Change(entry=entry(n=n)))

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(decide, range(24)))

    assert len(store.audit(limit=100).items) == 24
    assert store.audit_faults() == []


def test_an_entry_that_was_removed_or_altered_shows(table: Table) -> None:
    store = ItemGrantStore(table)
    for n in range(3):
        store.commit(Change(entry=entry(n=n)))
    second = table.page("O", "A#", after="", limit=3).items[1]
    key = (str(second["pk"]), str(second["sk"]))

    table.load([{**second, "actor": "somebody else"}])
    assert len(store.audit_faults()) == 1
    table.load([second])
    assert store.audit_faults() == []
    table.drop([key])
    assert len(store.audit_faults()) == 1


def test_the_beginning_of_the_audit_can_be_cut_off(store: ItemGrantStore) -> None:
    for n in range(5):
        store.commit(Change(entry=entry(n=n)))

    third = store.audit().items[2]
    assert store.cut_audit(third.at) == 2
    assert [one.id for one in store.audit().items][-1] == third.id
    assert store.audit_faults() == []
    assert store.cut_audit(third.at) == 0
    store.commit(Change(entry=entry(n=5)))
    assert store.audit_faults() == []


def test_a_decision_is_linked_anew_when_another_came_first(table: Table) -> None:
    busy = Interrupted(table)
    store = ItemGrantStore(busy)
    busy.act = lambda: ItemGrantStore(table).commit(Change(entry=entry("deny", n=0)))

    store.commit(Change(put=(GRANT,), entry=entry("approve", n=1)))

    assert [one.verb for one in store.audit().items] == ["approve", "deny"]
    assert store.audit_faults() == []


def test_what_expires_tells_the_table_when(table: Table) -> None:
    ItemGrantStore(table).commit(Change(put=(GRANT, Use(id="grt_1"))))

    found = table.get([("O", "G#grt_1"), ("O", "U#grt_1")])
    assert found["O", "G#grt_1"]["ttl"] == int(LATER.timestamp())
    assert "ttl" not in found["O", "U#grt_1"]


def test_registrations_survive_a_restart(tmp_path: Path) -> None:
    with closing(grant_store.open(tmp_path / "grants.db")) as store:
        store.commit(Change(put=(CLIENT,)))
    with closing(grant_store.open(tmp_path / "grants.db")) as store:
        assert stored(store, CLIENT) == replace(CLIENT, revision=1)
    assert (tmp_path / "grants.db").stat().st_mode & 0o077 == 0


def test_a_table_on_aws_keeps_grants(endpoint: str, monkeypatch: pytest.MonkeyPatch) -> None:
    name = emulator.new_table(emulator.client(endpoint))
    for variable, value in (
        ("AWS_ACCESS_KEY_ID", "test"),
        ("AWS_SECRET_ACCESS_KEY", "test"),
        ("AWS_DEFAULT_REGION", "eu-west-1"),
    ):
        monkeypatch.setenv(variable, value)
    with closing(aws_grant_store.open(name, endpoint=endpoint)) as store:
        store.commit(Change(put=(CLIENT,)))
        assert stored(store, CLIENT) == replace(CLIENT, revision=1)
