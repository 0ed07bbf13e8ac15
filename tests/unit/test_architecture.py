"""The shape of the tree: rules that no linter knows."""

import ast
import os
import re
import statistics
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from keeproom import errors
from keeproom.errors import VaultError

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "layers/core/python/keeproom"
GENERATED = {"__pycache__", "build", "cdk.out", "data", "dist", "node_modules"}

PRODUCT_MAY_IMPORT = {"keeproom", "snowballstemmer"} | sys.stdlib_module_names
NO_ADAPTERS = {"client", "lambda_asgi", "watched"}  # in aws/, but of no port

# Packages come from wherever a machine gets them, and nobody has our folders.
PLACES = re.compile(
    r"\b(pypi|pythonhosted|npmjs|crates|golang|maven\.apache|deb\.debian)\.(org|com|io)\b"
    r"|(?<![\w./~-])/(root|work|opt/wheels)/"
)


def own_files(folder: Path) -> Iterator[Path]:
    """Every file of the project, without what tools put beside them."""
    for path in sorted(folder.iterdir()):
        if path.is_dir():
            hidden = path.name.startswith(".") and path.name != ".ci"
            if not hidden and path.name not in GENERATED:
                yield from own_files(path)
        elif path.is_file() and path.name != ".git":
            yield path


def modules() -> list[Path]:
    return sorted(path for path in PACKAGE.rglob("*.py") if path.name != "__init__.py")


def name_of(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def lines(path: Path) -> int:
    return len(path.read_text(encoding="utf-8").splitlines())


def imports(path: Path) -> set[str]:
    """Top-level names of what the file imports, wherever in it."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            found.add(node.module.partition(".")[0])
    return found


def adapters(place: str) -> set[str]:
    return {path.stem for path in (PACKAGE / place).glob("*.py")} - {"__init__"}


def error_classes(root: type[VaultError] = VaultError) -> list[type[VaultError]]:
    return [root, *(one for child in root.__subclasses__() for one in error_classes(child))]


def test_every_module_fits_in_one_sitting() -> None:
    places = [
        ROOT / place
        for place in ("functions", "infra", "layers", "clients", "evals", "scripts")
        if (ROOT / place).exists()
    ]
    python = [path for place in places for path in own_files(place) if path.suffix == ".py"]

    assert {name_of(path): lines(path) for path in python if lines(path) > 400} == {}


def test_most_modules_are_small() -> None:
    sizes = [lines(path) for path in modules()]

    assert statistics.median(sizes) <= 120  # the aim is 80
    assert statistics.quantiles(sizes, n=10)[-1] <= 250


def test_handlers_only_hand_over() -> None:
    handlers = ROOT.glob("functions/*/handler.py")

    assert {name_of(path): lines(path) for path in handlers if lines(path) > 40} == {}


def test_imports_point_inwards() -> None:
    check = "import sys, importlinter.cli as cli; "
    check += "sys.exit(cli.lint_imports(no_cache=True, no_logo=True))"

    run = subprocess.run(
        [sys.executable, "-c", check],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(PACKAGE.parent)},
        capture_output=True,
        text=True,
        check=False,
    )

    assert run.returncode == 0, run.stdout + run.stderr


def test_the_product_needs_python_and_a_stemmer_only() -> None:
    shared_words = [PACKAGE / f"{name}.py" for name in ("errors", "clock", "ids", "pages")]
    whole = [*(PACKAGE / "vault").rglob("*.py"), *(PACKAGE / "oauth").rglob("*.py")]
    product = [*whole, *shared_words]
    foreign = {name_of(path): imports(path) - PRODUCT_MAY_IMPORT for path in product}

    assert {name: found for name, found in foreign.items() if found} == {}


def test_what_aws_has_this_machine_has_too() -> None:
    assert adapters("aws") - NO_ADAPTERS <= adapters("local")


def test_every_adapter_on_aws_has_its_contract() -> None:
    contracts = {path.stem.removeprefix("test_") for path in ROOT.glob("tests/contract/test_*.py")}

    assert adapters("aws") - NO_ADAPTERS <= contracts


def test_every_error_has_a_code_of_its_own() -> None:
    codes = [error.code for error in error_classes()]

    assert len(set(codes)) == len(codes)


@pytest.mark.parametrize("error", error_classes(), ids=lambda error: error.code)
def test_every_error_is_in_the_tree_that_introduces_them(error: type[VaultError]) -> None:
    assert errors.__doc__ is not None
    assert error.__name__ in errors.__doc__.split()


def test_no_file_names_a_registry_or_a_machine() -> None:
    found: list[str] = []
    for path in own_files(ROOT):
        text = path.read_bytes().decode("utf-8", errors="ignore")
        found += [f"{name_of(path)}: {place[0]}" for place in PLACES.finditer(text)]

    assert found == []
