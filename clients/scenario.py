"""What every client goes through once it has been approved."""

from collections.abc import Callable

from clients.session import Failed, NotLetIn, Session
from clients.visit import Visit

TOOLS = [
    "bulk_remember",
    "forget",
    "get_operating_guide",
    "list_memories",
    "propose_memory",
    "recall",
    "remember",
]

type Step = Callable[[Session, Visit, str], None]


def go_through(session: Session, visit: Visit, name: str) -> None:
    """From the list of tools to the refusal after the grant is taken back. Raises `Failed` with the
    step and why. `name`: a word of this client's own, which is remembered."""
    for step in STEPS:
        words = step.__name__.strip("_").replace("_", " ")
        try:
            step(session, visit, name)
        except NotLetIn as error:
            raise Failed(f"{words}: not let in {error}") from error
        except Failed as error:
            raise Failed(f"{words}: {error}") from error


def _lists_tools(session: Session, visit: Visit, name: str) -> None:
    expect(sorted(session.tools()) == TOOLS, "not the seven tools")


def _remembers_and_recalls(session: Session, visit: Visit, name: str) -> None:
    kept = session.call("remember", content=f"{name} keeps bees in Ljubljana")
    memory = visit.owner.memory(kept["id"])
    expect(memory is not None, "the memory is not in the vault")
    found = session.call("recall", query=f"{name} bees")
    expect(name in str(found), f"not recalled: {found}")


def _forgets(session: Session, visit: Visit, name: str) -> None:
    kept = session.call("remember", content=f"{name} sold a boat")
    session.call("forget", id=kept["id"])
    expect(visit.owner.memory(kept["id"]) is None, "the memory is still there")
    expect("boat" not in str(session.call("recall", query="boat")["hits"]), "still recalled")


def _refreshes(session: Session, visit: Visit, name: str) -> None:
    before = session.refresh_token()
    session.spoil()
    session.call("recall", query="bees")
    expect(session.refresh_token() != before, "the refresh token is the old one")


def _is_refused_once_revoked(session: Session, visit: Visit, name: str) -> None:
    visit.leave()
    revoked = visit.owner.revoke_all()
    expect(len(revoked) == 1, f"{len(revoked)} grants, not one")
    try:
        answer = session.call("recall", query="bees")
    except NotLetIn:
        expect(visit.owner.saw_refused(revoked[0]), "it did not come to the vault")
    else:
        raise Failed(f"still answered: {answer}")


STEPS: tuple[Step, ...] = (
    _lists_tools,
    _remembers_and_recalls,
    _forgets,
    _refreshes,
    _is_refused_once_revoked,
)


def expect(holds: bool, otherwise: str) -> None:  # noqa: FBT001  reads as a sentence
    if not holds:
        raise Failed(otherwise)
