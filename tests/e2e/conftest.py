"""The whole deployment in an account on this machine, once for all tests."""

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.bedrock import bedrock
from tests.dynamo import emulator
from tests.e2e.cloud import CDK, REGION, Cloud, cloud, for_this_machine
from tests.functions.container import clean
from tests.search_engine import node as search_node
from tests.search_engine.collection import Steered, serving
from tests.synthesis import OWNER, ROOT, node


def missing() -> str:
    """What a deployment needs and this machine does not have."""
    for needed, made_by in ((emulator.PYTHON, "make test"), (CDK, "make synth")):
        if not needed.exists():
            return f"{needed.name} is not installed: {made_by}"
    return ""


def layers(machine: str) -> Path:
    script = ROOT / "scripts/layers.py"
    subprocess.run([ROOT / ".uv/bin/python", script, machine], check=True, capture_output=True)
    return ROOT / "build/layers" / machine


@pytest.fixture(scope="session")
def main_assembly(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What `cdk deploy` would send to AWS."""
    if lacking := missing():
        pytest.skip(lacking)
    layers("aarch64")
    out = tmp_path_factory.mktemp("synth") / "cdk.out"
    subprocess.run(
        [node(), CDK, "synth", "--quiet", "--no-notices", "--output", out, "--build", "true",
         "-c", f"owner_emails={OWNER}"],
        env=clean(JSII_NODE=str(node()), HOME=str(out.parent), AWS_REGION=REGION),
        cwd=ROOT, check=True, capture_output=True,
    )  # fmt: skip
    return out


@pytest.fixture(scope="session")
def collection(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Steered]:
    """A real OpenSearch that behaves as the collection would."""
    if lacking := missing() or search_node.missing():
        pytest.skip(lacking)
    with search_node.running(tmp_path_factory.mktemp("node")) as node, serving(node) as steered:
        # The keys of a function's role are known to the emulator alone.
        steered.behave(secret="", visible_after=0)
        yield steered


@pytest.fixture(scope="session")
def account(tmp_path_factory: pytest.TempPathFactory, collection: Steered) -> Iterator[Cloud]:
    with (
        bedrock() as models,
        cloud(
            tmp_path_factory.mktemp("account"), models=models.url, search=collection.address
        ) as opened,
    ):
        opened.make("bootstrap")
        yield opened


@pytest.fixture(scope="session")
def local_assembly(main_assembly: Path, account: Cloud) -> Path:
    return for_this_machine(main_assembly, account.folder / "cdk.out", layers("x86_64"))


@pytest.fixture(scope="session")
def deployed(account: Cloud, local_assembly: Path) -> Cloud:
    account.cdk("deploy", "--app", local_assembly, "--require-approval", "never")
    return account
