"""Long and late work on AWS: a message on an SQS queue, for a function that goes on with it."""

import logging
from collections.abc import Callable
from typing import Any, Protocol

from botocore.exceptions import (  # pyright: ignore[reportMissingTypeStubs]
    BotoCoreError,
    ClientError,
)

from keeproom.aws.client import client
from keeproom.vault.work import Task, message_of

_log = logging.getLogger(__name__)


class Client(Protocol):
    """What is used of a boto3 client."""

    @property
    def send_message(self) -> Callable[..., Any]: ...


def open(url: str, *, endpoint: str | None = None) -> "SqsQueue":
    """The queue of that URL. `endpoint`: another than the region's own."""
    return SqsQueue(client("sqs", endpoint=endpoint, connect=1, read=2, attempts=2, pool=8), url)


class SqsQueue:
    """`wake` is the `Wake` of the doors. The worker reads a message's body with `task_of` and
    gives the task to `work`, with this `wake` for `again`; a body that cannot be read raises
    `Invalid`, again each time, until the queue puts it aside."""

    def __init__(self, client: Client, url: str) -> None:
        self._client, self._url = client, url

    def wake(self, task: Task) -> None:
        """Raises nothing: what is to be done lies in the store, and the schedule finds it there
        when nobody could be told."""
        try:
            self._client.send_message(QueueUrl=self._url, MessageBody=message_of(task))
        except (BotoCoreError, ClientError) as error:
            _log.warning("could not tell the worker of %s: %s", task.kind, type(error).__name__)
