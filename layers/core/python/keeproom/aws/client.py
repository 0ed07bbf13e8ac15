"""Clients of AWS services, each with its own patience: botocore's default waits a minute."""

from collections.abc import Callable
from typing import Any, cast

import boto3  # pyright: ignore[reportMissingTypeStubs]
from botocore.config import Config  # pyright: ignore[reportMissingTypeStubs]


def client(
    service: str,
    *,
    endpoint: str | None = None,
    connect: float = 2,
    read: float = 5,
    attempts: int = 1,
    pool: int = 64,
) -> Any:  # noqa: ANN401  boto3 makes the methods as it runs
    """`endpoint`: another than the region's own. `connect`, `read`: seconds. `attempts`: calls the
    SDK makes in all, the first one too. Safe for threads."""
    config = Config(
        connect_timeout=connect,
        read_timeout=read,
        retries={"total_max_attempts": attempts, "mode": "standard"},
        max_pool_connections=pool,
        tcp_keepalive=True,
    )
    make = cast("Callable[..., Any]", boto3.client)  # pyright: ignore[reportUnknownMemberType]
    return make(service, endpoint_url=endpoint, config=config)
