"""What the documents and the Makefile say of the project is there."""

import re
import runpy
from pathlib import Path

import pytest

from keeproom.settings import Settings

ROOT = Path(__file__).parents[2]
DOCUMENTS = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")])
MAKEFILE = (ROOT / "Makefile").read_text(encoding="utf-8")
EXPLAINED = set(re.findall(r"^([a-z-]+):.* ## \S", MAKEFILE, re.MULTILINE))


def test_the_readme_is_short() -> None:
    assert len((ROOT / "README.md").read_text(encoding="utf-8").split()) <= 600


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.stem)
def test_links_between_documents_lead_somewhere(document: Path) -> None:
    links = re.findall(r"\]\(([^)#:]+)[)#]", document.read_text(encoding="utf-8"))

    assert [link for link in links if not (document.parent / link).exists()] == []


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.stem)
def test_the_make_targets_a_document_names_exist(document: Path) -> None:
    named = re.findall(r"(?:`|^    )make ([a-z-]+)", document.read_text(encoding="utf-8"), re.M)

    assert set(named) - EXPLAINED == set()


@pytest.mark.parametrize("document", ["docs/oauth.md", "docs/signing-in.md"])
def test_every_test_that_a_requirement_names_exists(document: str) -> None:
    table = (ROOT / document).read_text(encoding="utf-8")
    tests = "".join(path.read_text(encoding="utf-8") for path in ROOT.glob("tests/**/test_*.py"))

    named = set(re.findall(r"`(test_\w+)`", table))
    assert len(named) > 30
    assert {name for name in named if f"def {name}(" not in tests} == set()


def test_the_example_environment_names_every_setting() -> None:
    example = (ROOT / ".env.example").read_text(encoding="utf-8")
    names = [field.alias for field in Settings.model_fields.values()]

    assert re.findall(r"^#?([A-Z_]+)=", example, re.MULTILINE) == names


def test_make_help_explains_every_target() -> None:
    phony = re.search(r"^\.PHONY: (.*)$", MAKEFILE, re.MULTILINE)

    assert phony is not None
    assert set(phony[1].split()) - {"stale"} == EXPLAINED


def test_the_reference_is_in_step_with_the_code() -> None:
    script = runpy.run_path(str(ROOT / "scripts/reference.py"))

    kept = (ROOT / "docs/reference.md").read_text(encoding="utf-8")
    assert kept == script["reference"](), "run `make docs`"
