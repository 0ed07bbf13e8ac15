"""How much our own code adds to a cold start of `functions/api`.

The CPU time from a fresh interpreter to the first answered recall, over that of importing the same
packages of others and making the same clients, in turns. Services are emulated; waiting for them
takes no CPU time. Run `python -m evals.cold`; `JSON=1` adds the numbers as a last line of JSON.
"""

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any

import httpx

from evals.report import Section, Table, publish
from keeproom.aws.memory_store import DynamoTable
from keeproom.vault.batch import ImportItem
from keeproom.vault.model import OWNER
from keeproom.vault.remember import remember
from tests.functions.gateway import ADDRESS, event
from tests.functions.place import Cloud, cloud_in, door_of
from tests.letting_in import signed_in

ROOT = Path(__file__).resolve().parents[1]
HANDLER = ROOT / "functions/api/handler.py"
START = Path(__file__).with_name("cold_start.py")
MEMORIES = 20
TURNS = 7
MOST = 1.25

type Told = dict[str, Any]


def measured() -> Told:
    with TemporaryDirectory() as folder, cloud_in(Path(folder)) as cloud:
        asked = recall_of(cloud)
        environment = cloud.environment | {
            "PATH": os.environ["PATH"],
            "PYTHONPATH": str(ROOT / "layers/core/python"),
        }
        first = run([START, HANDLER], asked, environment)  # writes the bytecode, too
        if "bees" not in first["answer"]:
            raise RuntimeError(f"recall did not answer: {first['answer'][:400]}")
        alone = json.dumps({"modules": first["modules"], "clients": first["clients"]})
        run([START], alone, environment)
        turns = [
            (run([START, HANDLER], asked, environment), run([START], alone, environment))
            for _ in range(TURNS)
        ]
    whole = median(ours["cpu"] for ours, _ in turns)
    theirs = median(others["cpu"] for _, others in turns)
    return {
        "cold": {
            "ratio": round(whole / theirs, 3),
            "cpu_s": round(whole, 3),
            "packages_s": round(theirs, 3),
            "clients": sorted(first["clients"]),
        }
    }


def recall_of(cloud: Cloud) -> str:
    """The event of an agent's first question."""
    vault = cloud.vault()
    for n in range(MEMORIES):
        remember(vault, ImportItem(content=f"Ana keeps bees, hive {n}"), by=OWNER)
    with door_of(DynamoTable(cloud.client, cloud.grants_table), vault) as door:
        token = signed_in(door, allow={"read"}).access
    asked = {"name": "recall", "arguments": {"query": "Who keeps bees?"}}
    request = httpx.Request(
        "POST",
        f"{ADDRESS}/mcp",
        headers={
            "authorization": f"Bearer {token}",
            "accept": "application/json, text/event-stream",
            "mcp-protocol-version": "2025-11-25",
        },
        json={"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": asked},
    )
    return json.dumps(event(request))


def run(command: list[Path], told: str, environment: Mapping[str, str]) -> Told:
    done = subprocess.run(
        [sys.executable, *command],
        input=told, env=dict(environment), capture_output=True, text=True, check=False,
    )  # fmt: skip
    if done.returncode:
        raise RuntimeError(done.stderr[-2000:])
    return json.loads(done.stdout)


def main() -> None:
    told = measured()
    cold = told["cold"]
    shown = f"{cold['ratio']:.2f} ({cold['cpu_s']:.2f} s over {cold['packages_s']:.2f} s)"
    section = Section(
        name="cold",
        title="Cold start",
        command="make bench-cold",
        about=(
            "CPU time from a fresh interpreter to the first answered recall in `functions/api`, "
            "over that of importing the same packages of others and making the same clients."
        ),
        table=Table(
            columns=["what", "measured", "target"],
            rows=[["cold start over what others need", shown, f"<= {MOST}"]],
        ),
    )
    publish(section, told)


if __name__ == "__main__":
    main()
