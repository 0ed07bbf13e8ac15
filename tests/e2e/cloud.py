"""An AWS account on this machine, as long as a test needs it."""

import json
import os
import shutil
import subprocess
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast
from urllib.parse import urlsplit

import boto3  # pyright: ignore[reportMissingTypeStubs]
from botocore.exceptions import ClientError  # pyright: ignore[reportMissingTypeStubs]

from clients.places import free_port
from tests.conftest import is_loopback
from tests.dynamo.emulator import PYTHON, wait
from tests.synthesis import OWNER, ROOT, node

CDK = ROOT / "infra/cli/node_modules/aws-cdk/bin/cdk"
ACCOUNT, REGION = "000000000000", "eu-west-1"
STACK = "Keeproom"
FIRST_PASSWORD = "As-AWS-would-make-1"  # of everybody whom the stack invites


class DeployFailed(Exception):
    """What `cdk` said last."""


@dataclass(frozen=True, slots=True)
class Cloud:
    """`environment`: for a program that is to find this account and no other."""

    endpoint: str
    environment: Mapping[str, str]
    folder: Path

    def client(self, service: str) -> Any:
        if not is_loopback(urlsplit(self.endpoint).hostname or ""):
            raise ValueError("tests talk to this machine only")
        make = cast("Any", boto3.client)  # pyright: ignore[reportUnknownMemberType]
        return make(
            service,
            endpoint_url=self.endpoint,
            region_name=REGION,
            aws_access_key_id="test",
            aws_secret_access_key="test",
        )

    def as_role(self, function: str, service: str, call: str, asked: Mapping[str, Any]) -> str:
        """The error that this call gets with the role of that function; empty if it gets none."""
        config = self.client("lambda").get_function_configuration(
            FunctionName=self.function(function)
        )
        taken = self.client("sts").assume_role(RoleArn=config["Role"], RoleSessionName="test")
        keys = taken["Credentials"]
        make = cast("Any", boto3.client)  # pyright: ignore[reportUnknownMemberType]
        client = make(
            service,
            endpoint_url=self.endpoint,
            region_name=REGION,
            aws_access_key_id=keys["AccessKeyId"],
            aws_secret_access_key=keys["SecretAccessKey"],
            aws_session_token=keys["SessionToken"],
        )
        try:
            getattr(client, call)(**asked)
        except ClientError as error:
            return str(cast("Any", error).response["Error"]["Code"])
        return ""

    def cdk(self, *arguments: str | Path) -> str:
        """Everything it says. Raises `DeployFailed`."""
        quiet = ("--no-notices", "--no-version-reporting", "--no-color")
        return self._said([node(), CDK, *arguments, *quiet], at=self.folder)

    def make(self, target: str, *options: str) -> str:
        """As an owner has it in this account. Everything it says. Raises `DeployFailed`."""
        told = f"OPTIONS={' '.join(('--no-notices', '--no-color', *options))}"
        return self._said(["make", target, f"OWNER_EMAILS={OWNER}", told], at=ROOT)

    def _said(self, command: Sequence[str | Path], *, at: Path) -> str:
        run = subprocess.run(
            command,
            env={**self.environment, "JSII_NODE": str(node())},
            cwd=at,
            capture_output=True,
            text=True,
            check=False,
            timeout=240,
        )
        if run.returncode:
            raise DeployFailed((run.stdout + run.stderr)[-3000:])
        return run.stdout + run.stderr

    def outputs(self) -> dict[str, str]:
        (stack,) = self.client("cloudformation").describe_stacks(StackName=STACK)["Stacks"]
        return {one["OutputKey"]: one["OutputValue"] for one in stack["Outputs"]}

    def address(self) -> str:
        """Of the vault."""
        return self.outputs()["McpUrl"].removesuffix("/mcp")

    def names(self, kind: str) -> list[str]:
        """Physical ids of the stack's resources of that type."""
        found = self.client("cloudformation").describe_stack_resources(StackName=STACK)
        return [
            one["PhysicalResourceId"]
            for one in found["StackResources"]
            if one["ResourceType"] == kind
        ]

    def function(self, handler: str) -> str:
        """The name of the function whose logical id begins like that."""
        found = self.client("cloudformation").describe_stack_resources(StackName=STACK)
        (name,) = (
            one["PhysicalResourceId"]
            for one in found["StackResources"]
            if one["ResourceType"] == "AWS::Lambda::Function"
            and one["LogicalResourceId"].startswith(f"Functions{handler}")
        )
        return name


@contextmanager
def cloud(folder: Path, *, models: str, search: str) -> Generator[Cloud]:
    """IAM is enforced. `models`, `search`: where Bedrock and the search collection are, on this
    machine too. Everything it writes is below the folder."""
    port, front = free_port(), free_port()
    ca = folder / "front/ca.pem"
    ca.parent.mkdir(parents=True)
    (folder / "state").mkdir()
    here = {
        "PATH": os.environ["PATH"],
        "HOME": str(folder),
        "HTTPS_PROXY": f"http://127.0.0.1:{front}",
        "NO_PROXY": "127.0.0.1,localhost",
        "SSL_CERT_FILE": str(ca),
        "AWS_DEFAULT_REGION": REGION,
        "AWS_REGION": REGION,
    }
    emulator = {
        **here,
        "AWS_ENDPOINT_URL_BEDROCK_RUNTIME": models,
        "SEARCH_INSTEAD": search,
        "AUTH": "true",
        "BIND_HOST": "127.0.0.1",
        "GATEWAY_PORT": str(port),
        "FRONT_PORT": str(front),
        "FRONT_CA": str(ca),
        "FIRST_PASSWORD": FIRST_PASSWORD,
        "MINISTACK_REGION": REGION,
        "TMPDIR": str(folder / "state"),
        "STATE_DIR": str(folder / "state"),
        "SFTP_ENABLED": "0",
        "IOT_MTLS_ENABLED": "0",
    }
    with (folder / "emulator.log").open("w") as log:
        run = subprocess.Popen(
            [PYTHON, Path(__file__).with_name("taught.py")],
            env=emulator,
            cwd=folder,
            stdin=subprocess.PIPE,
            stdout=log,
            stderr=log,
        )
        try:
            wait(run, port)
            environment = {
                **here,
                "AWS_ENDPOINT_URL": f"http://127.0.0.1:{port}",
                "AWS_ACCESS_KEY_ID": "test",
                "AWS_SECRET_ACCESS_KEY": "test",
                "CURL_CA_BUNDLE": str(ca),
                "CDK_DISABLE_CLI_TELEMETRY": "true",
            }
            yield Cloud(f"http://127.0.0.1:{port}", environment, folder)
        finally:
            run.kill()
            run.communicate()
            shutil.rmtree(folder / "state", ignore_errors=True)


def for_this_machine(assembly: Path, target: Path, layers: Path) -> Path:
    """The same assembly, with wheels of this machine's kind in the layer. Its templates, and the
    name of every asset, are untouched."""
    shutil.copytree(assembly, target)
    assets = json.loads((assembly / f"{STACK}.assets.json").read_text())["files"]
    (deps,) = (
        target / one["source"]["path"]
        for one in assets.values()
        if (assembly / one["source"]["path"] / "python/botocore").is_dir()
    )
    shutil.rmtree(deps)
    shutil.copytree(layers / "deps", deps)
    return target
