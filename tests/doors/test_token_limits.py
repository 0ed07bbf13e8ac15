"""How often `/token` answers: a client in a loop is told when to come again, and no other waits."""

from datetime import timedelta

import httpx

from keeproom.oauth.grant_tokens import MOST_ISSUED, MOST_REFUSED
from keeproom.vault.vault import Vault
from tests.applications import application
from tests.http import client_of
from tests.letting_in import Door, SignedIn, refreshed, registered, signed_in


def is_told_to_wait(answer: httpx.Response) -> bool:
    """By an error that no client takes for the end of its sign-in."""
    if answer.status_code != 429:
        return False
    assert answer.json()["error"] == "temporarily_unavailable"
    assert 0 < int(answer.headers["retry-after"]) <= 600
    return True


def guesses(door: Door, count: int) -> list[httpx.Response]:
    client_id = registered(door)["client_id"]
    return [refreshed(door, client_id, f"kr_rt_{n}") for n in range(count)]


def test_guessing_ends_in_429_and_passes(door: Door) -> None:
    answers = guesses(door, MOST_REFUSED + 2)

    assert {one.status_code for one in answers[:MOST_REFUSED]} == {400}
    assert all(map(is_told_to_wait, answers[MOST_REFUSED:]))
    door.watch.forward(timedelta(minutes=10))
    assert guesses(door, 1)[0].status_code == 400


def test_unknown_clients_are_counted_too(door: Door) -> None:
    answers = [refreshed(door, f"cli_{n}", "x") for n in range(MOST_REFUSED + 1)]

    assert answers[0].json()["error"] == "invalid_client"
    assert is_told_to_wait(answers[-1])


def test_one_who_guesses_does_not_make_neighbours_elsewhere_wait(vault: Vault, door: Door) -> None:
    app = signed_in(door)
    guesses(door, MOST_REFUSED)
    assert is_told_to_wait(refreshed(door, app.client_id, app.refresh))

    elsewhere = application(vault, owner="", authorization=door.auth)
    form = {"grant_type": "refresh_token", "client_id": app.client_id, "refresh_token": app.refresh}
    with client_of(elsewhere, peer=("203.0.113.9", 4_000)) as client:
        assert client.post("/token", data=form).status_code == 200


def test_a_client_that_refreshes_without_end_is_told_to_wait(door: Door) -> None:
    app, other = signed_in(door), signed_in(door)
    answers: list[httpx.Response] = []
    for _ in range(MOST_ISSUED):
        answers.append(refreshed(door, app.client_id, app.refresh))
        if answers[-1].status_code == 200:
            app = SignedIn(
                client_id=app.client_id, access="", refresh=answers[-1].json()["refresh_token"]
            )

    assert answers[-2].status_code == 200
    assert is_told_to_wait(answers[-1]), "its first tokens count too"
    assert refreshed(door, other.client_id, other.refresh).status_code == 200
    door.watch.forward(timedelta(minutes=10))
    assert refreshed(door, app.client_id, app.refresh).status_code == 200, "it has lost nothing"
