"""An emulator of DynamoDB and S3 on this machine, for as long as somebody needs it."""

import os
import socket
import subprocess
import uuid
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, cast
from urllib.parse import urlsplit

import boto3  # pyright: ignore[reportMissingTypeStubs]
from botocore.config import Config  # pyright: ignore[reportMissingTypeStubs]

from clients.places import free_port
from keeproom.aws.memory_store import Client
from keeproom.clock import tries

PYTHON = Path(__file__).parents[2] / ".venv-emulator/bin/python"

# Its input ends when the test run does, however that ends: then the emulator does too.
_SERVE = """
import importlib, os, sys, threading

def last_out() -> None:
    sys.stdin.buffer.read()
    os._exit(0)

threading.Thread(target=last_out, daemon=True).start()
sys.argv[1:] = []
importlib.import_module("ministack.app").main()
"""


@contextmanager
def emulator(folder: Path) -> Generator[str]:
    """Its endpoint. Everything it writes is below the folder."""
    port = free_port()
    run = subprocess.Popen(
        [PYTHON, "-c", _SERVE],
        env={
            "PATH": os.environ["PATH"],
            "BIND_HOST": "127.0.0.1",
            "GATEWAY_PORT": str(port),
            "TMPDIR": str(folder),
            "STATE_DIR": str(folder),
            "SFTP_ENABLED": "0",
            "IOT_MTLS_ENABLED": "0",
        },
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        cwd=folder,
    )
    try:
        wait(run, port)
        yield f"http://127.0.0.1:{port}"
    finally:
        run.kill()
        run.communicate()


def client(endpoint: str) -> Client:
    return aws(endpoint, "dynamodb")


def aws(endpoint: str, service: str) -> Any:
    """A client of the service there. Refuses any other machine."""
    if urlsplit(endpoint).hostname != "127.0.0.1":
        raise ValueError("tests talk to this machine only")
    make = cast("Any", boto3.client)  # pyright: ignore[reportUnknownMemberType]
    return make(
        service,
        endpoint_url=endpoint,
        region_name="eu-west-1",
        aws_access_key_id="test",
        aws_secret_access_key="test",
        config=Config(retries={"total_max_attempts": 1}, max_pool_connections=64),
    )


def new_table(to: Client) -> str:
    """The name of an empty table."""
    boto, name = cast("Any", to), f"test-{uuid.uuid4().hex}"
    keys = {"pk": "HASH", "sk": "RANGE"}
    boto.create_table(
        TableName=name,
        BillingMode="PAY_PER_REQUEST",
        AttributeDefinitions=[{"AttributeName": key, "AttributeType": "S"} for key in keys],
        KeySchema=[{"AttributeName": key, "KeyType": kind} for key, kind in keys.items()],
    )
    waiting = {"Delay": 1, "MaxAttempts": 20}
    boto.get_waiter("table_exists").wait(TableName=name, WaiterConfig=waiting)
    return name


def new_bucket(to: Any) -> str:
    """The name of an empty bucket."""
    name = f"test-{uuid.uuid4().hex}"
    to.create_bucket(Bucket=name, CreateBucketConfiguration={"LocationConstraint": "eu-west-1"})
    return name


def wait(run: "subprocess.Popen[bytes]", port: int) -> None:
    """Until it takes calls."""
    for _ in tries(30.0):
        if run.poll() is not None:
            break
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
        except OSError:
            continue
        return
    raise RuntimeError("the emulator did not start")
