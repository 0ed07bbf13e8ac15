"""Made-up memories and questions of a person who works with software: nobody's words.

Slots are filled by Zipf's law, as in real text a few names and tools come up again and again and
most of them once.
"""

import random
import re
from collections.abc import Callable, Iterator, Sequence
from itertools import accumulate

SHORTEST, LONGEST = 15, 40  # words of a memory

_PEOPLE = (
    "Maren Tomasz Ingrid Kofi Leila Bruno Yuki Petra Anselm Noor Felix Camila Dmitri Aoife Rajiv "
    "Greta Mateo Saskia Hugo Amara Linus Priya Oskar Wanda Emil Farah Jonas Beatriz Kenji Ilse "
    "Marta Tariq Elin Stefan Zofia Nadia Ruben Hanne Caleb Mirjam"
).split()
_PLACES = (
    "Hamburg Lisbon Osaka Leipzig Toronto Bergen Valencia Kraków Nairobi Graz Ghent Turku Bologna "
    "Porto Aarhus Basel Lyon Tallinn Bristol Malmö Zagreb Riga Cork Girona Trieste Utrecht Kyoto "
    "Galway Uppsala Salzburg"
).split()
_TOOLS = (
    "PostgreSQL Redis Terraform Grafana Kafka Docker Ansible pytest Nginx SQLite Prometheus pnpm "
    "Jenkins Elasticsearch RabbitMQ Vite Kubernetes Sentry Poetry Bazel Airflow Podman Vault "
    "ClickHouse Caddy Playwright Helm MinIO Storybook Hadoop"
).split()
_PROJECTS = (
    "billing search onboarding reporting payments inventory scheduling messaging analytics "
    "mobile checkout identity archive catalogue newsletter telemetry booking translation "
    "logistics forecasting"
).split()
_THINGS = (
    "coffee|the weekly report|dark mode|the garden|long train rides|the piano|sourdough bread|"
    "short commits|morning meetings|the old bicycle|green tea|hiking|film cameras|black pepper|"
    "paper notebooks|chess|mechanical keyboards|swimming|crossword puzzles|the allotment|"
    "board games|oat milk|podcasts|climbing|woodwork|second-hand books|choir practice|"
    "birdwatching|pottery|astronomy"
).split("|")
_ROLES = (
    "team lead|designer|accountant|dentist|neighbour|sister|flatmate|manager|landlord|cousin|"
    "physiotherapist|tax adviser|piano teacher|former colleague|intern|product owner"
).split("|")
_DAYS = "Monday Thursday Friday Tuesday Wednesday Sunday Saturday".split()
_MONTHS = (
    "March September January June October May April November July December February August"
).split()
_REASONS = (
    "because the old setup kept failing under load|so that new people can find it|"
    "since the contract ends that month|after the outage in the spring|"
    "because it is cheaper than before|as the client asked for in writing|"
    "although the first attempt did not go well|because nobody wanted to maintain the scripts|"
    "so that the auditors can follow every step|since the doctor advised against it|"
    "because the team sits in three time zones|after a long talk about priorities"
).split("|")

_FACTS = (
    "{person} moved from {place} to {place} in {month} and now works remotely for the {project} team",
    "The {project} service runs {tool} {version} on {count} machines in the {place} data centre",
    "The user prefers {thing} to {thing} and would rather not be asked about it again",
    "We decided to replace {tool} with {tool} in the {project} project by the end of {month}",
    "{person} is the user's {role} and can be reached best on {day} after {hour} o'clock",
    "Backups of the {project} database are written every {day} at {hour}:30 and kept for {count} days",
    "The user's {role} {person} lives in {place} and is fond of {thing}",
    "A request to the {project} API may take {count} milliseconds at most before it is cut off",
    "On {day} mornings the user spends an hour on {thing} and answers no messages",
    "The rent of the flat in {place} is {count} euros a month and is paid on the {date} of {month}",
    "{person} reviews every change to the {tool} configuration of the {project} project",
    "The user is planning a trip to {place} with {person} in {month} and has booked {count} nights",
    "Deployments of {project} happen on {day} and need the approval of {person} or {person}",
    "The user has been learning {thing} since {month} with {person} as a teacher in {place}",
    "Version {version} of {tool} broke the {project} build, and the workaround is to pin the older one",
    "The yearly budget for {project} is {count} thousand euros, of which {person} manages the larger part",
)
_TAILS = (
    "{reason}",
    "{reason}, and {person} keeps the notes about it",
    "which was agreed with {person} on the {date} of {month}",
    "and the next look at it is due in {month} {reason}",
    "while {person} from the {project} team takes care of everything around {tool}",
    "but on {day} it is {person} who decides, {reason}",
)
_QUESTIONS = (
    "Where does {person} live now?",
    "When did {person} move to {place}?",
    "Which version of {tool} does the {project} service run?",
    "What did we decide about {tool} in the {project} project?",
    "Who reviews changes to {tool} for {project}?",
    "How long are the {project} backups kept, and who checks them?",
    "Does the user like {thing} or {thing} better?",
    "Which day do we deploy {project}, and who has to approve?",
    "Who is {person} and how can they be reached on {day}?",
    "What is the budget for {project} and who manages it since {month}?",
    "Is there a trip to {place} with {person} planned for {month}?",
    "Why was {tool} replaced by {tool}?",
    "What happened to the {project} build with {tool} {version}?",
    "How much is the rent in {place}, and when is it due?",
    "What does the user do on {day} mornings?",
    "{thing} with {person} in {place}",
)
_SLOT = re.compile(r"{(\w+)}")

type Choose = Callable[[], str]


def zipf_weights(count: int) -> list[float]:
    """Cumulative, for ranks 1 to `count`: Zipf's law as corrected by Mandelbrot (exponent 1.07,
    offset 2.7)."""
    return list(accumulate((rank + 2.7) ** -1.07 for rank in range(1, count + 1)))


def memories(count: int, *, seed: int) -> list[str]:
    """Different texts of 15 to 40 words."""
    rng = random.Random(seed)
    slots = _slots(rng)
    return _distinct(count, lambda: _memory(rng, slots))


def questions(count: int, *, seed: int) -> list[str]:
    """Different questions of about 5 to 15 words on such memories."""
    rng = random.Random(seed)
    slots = _slots(rng)
    return _distinct(count, lambda: _filled(rng.choice(_QUESTIONS), slots))


def made_words(count: int, *, seed: int) -> list[str]:
    """Different words that no language has, for the long tail of a vocabulary."""
    rng = random.Random(seed)

    def word() -> str:
        return "".join(
            rng.choice("bdfgklmnprstvz") + rng.choice("aeiou") for _ in range(rng.randint(2, 4))
        )

    return _distinct(count, word)


def _distinct(count: int, make: Choose) -> list[str]:
    made: dict[str, None] = {}
    while len(made) < count:
        made[make()] = None
    return list(made)


def _memory(rng: random.Random, slots: dict[str, Choose]) -> str:
    text = _filled(rng.choice(_FACTS), slots)
    while len(text.split()) < SHORTEST or (rng.random() < 0.4 and len(text.split()) < LONGEST - 17):
        text = f"{text}, {_filled(rng.choice(_TAILS), slots)}"
    return f"{text}."


def _filled(pattern: str, slots: dict[str, Choose]) -> str:
    return _SLOT.sub(lambda slot: slots[slot[1]](), pattern)


def _slots(rng: random.Random) -> dict[str, Choose]:
    def by_rank(words: Sequence[str]) -> Choose:
        weights = zipf_weights(len(words))
        return lambda: rng.choices(words, cum_weights=weights)[0]

    return {
        "person": by_rank(_PEOPLE),
        "place": by_rank(_PLACES),
        "tool": by_rank(_TOOLS),
        "project": by_rank(_PROJECTS),
        "thing": by_rank(_THINGS),
        "role": by_rank(_ROLES),
        "day": by_rank(_DAYS),
        "month": by_rank(_MONTHS),
        "reason": by_rank(_REASONS),
        "count": lambda: str(rng.randint(2, 40) * rng.choice((1, 5, 10, 25))),
        "hour": lambda: str(rng.randint(7, 19)),
        "date": lambda: f"{rng.randint(4, 20)}th",
        "version": lambda: f"{rng.randint(1, 18)}.{rng.randint(0, 12)}",
    }


def words(texts: Sequence[str]) -> Iterator[str]:
    for text in texts:
        yield from text.split()
