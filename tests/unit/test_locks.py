"""The lock files install the same thing everywhere, from wherever a machine gets its packages."""

import re
import tomllib
from pathlib import Path
from typing import Any

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[2]
REQUIREMENTS = ROOT / "requirements"
LOCKS = sorted(path.stem for path in REQUIREMENTS.glob("*.lock"))
PROJECT: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text())
GROUPS: dict[str, list[str | dict[str, str]]] = PROJECT["dependency-groups"]


def blocks(lock: str) -> list[str]:
    """One requirement with its hashes each."""
    text = (REQUIREMENTS / f"{lock}.lock").read_text()
    return re.split(r"\n(?=\S)", text.strip())


def locked(lock: str) -> dict[str, str]:
    """Version by package."""
    pins = [Requirement(block.partition("\\")[0].strip()) for block in blocks(lock)]
    return {canonicalize_name(pin.name): str(pin.specifier).removeprefix("==") for pin in pins}


def asked_for(*, extras: tuple[str, ...] = (), groups: tuple[str, ...] = ()) -> list[Requirement]:
    project: dict[str, Any] = PROJECT["project"]
    texts: list[str] = []
    for extra in extras:
        texts += project["optional-dependencies"][extra]
    for group in groups:
        texts += [entry for entry in GROUPS[group] if isinstance(entry, str)]
    return [Requirement(text) for text in texts]


def test_there_is_a_lock_for_each_environment() -> None:
    assert LOCKS == ["aws", "clients", "dev", "emulator", "infra", "local", "uv"]


@pytest.mark.parametrize("lock", LOCKS)
def test_a_lock_names_no_address(lock: str) -> None:
    text = (REQUIREMENTS / f"{lock}.lock").read_text()

    assert "://" not in text
    assert not re.search(r"^\s*-(?!-hash=)", text, re.MULTILINE)


@pytest.mark.parametrize("lock", LOCKS)
def test_every_requirement_is_pinned_and_hashed(lock: str) -> None:
    shape = re.compile(r"[\w.-]+==[\w.!+-]+( ; [^\\]+)?( \\\n    --hash=sha256:[0-9a-f]{64})+")

    assert [block for block in blocks(lock) if not shape.fullmatch(block)] == []


@pytest.mark.parametrize(
    ("lock", "asked"),
    [
        ("local", asked_for(extras=("local",), groups=("build",))),
        ("dev", asked_for(extras=("local", "aws"), groups=("build", "dev"))),
        ("aws", asked_for(extras=("aws",))),
        ("infra", asked_for(groups=("infra",))),
        ("clients", asked_for(groups=("clients",))),
        ("emulator", asked_for(groups=("emulator",))),
        ("uv", asked_for(groups=("installer",))),
    ],
)
def test_a_lock_holds_what_the_project_asks_for(lock: str, asked: list[Requirement]) -> None:
    versions = locked(lock)

    missing = [need for need in asked if canonicalize_name(need.name) not in versions]
    unfit = [
        need
        for need in asked
        if need not in missing and versions[canonicalize_name(need.name)] not in need.specifier
    ]

    assert (missing, unfit) == ([], [])


@pytest.mark.parametrize("serving", ["local", "aws"])
def test_the_tests_run_on_the_versions_that_serve(serving: str) -> None:
    elsewhere = {"httpx2-jsfetch", "pywin32"}  # of other systems
    serves = {name: pin for name, pin in locked(serving).items() if name not in elsewhere}

    assert serves.items() <= locked("dev").items()
