"""An SQS queue of an emulator, and what Lambda does with it: hand each message to a function, and
take it off the queue when the function has not failed."""

import json
import uuid
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, cast

from keeproom.aws.client import client
from keeproom.aws.queue import SqsQueue
from keeproom.errors import VaultError

MOST_RECEIVED = 3  # times, before a message is put aside


@dataclass(frozen=True, slots=True)
class EmulatedQueue:
    boto: Any
    url: str
    aside: str  # the URL of its dead letter queue

    @property
    def queue(self) -> SqsQueue:
        return SqsQueue(self.boto, self.url)

    def bring(self, function: Callable[[str], object]) -> int:
        """Hand over what lies there now, and answer how many messages that were."""
        told: list[dict[str, Any]] = self.boto.receive_message(
            QueueUrl=self.url, MaxNumberOfMessages=10, VisibilityTimeout=0
        ).get("Messages", [])
        for message in told:
            try:
                function(message["Body"])
            except VaultError:
                continue
            self.boto.delete_message(QueueUrl=self.url, ReceiptHandle=message["ReceiptHandle"])
        return len(told)

    def bodies_aside(self) -> list[str]:
        told = self.boto.receive_message(QueueUrl=self.aside, MaxNumberOfMessages=10)
        return [message["Body"] for message in told.get("Messages", [])]

    def send(self, body: str) -> None:
        self.boto.send_message(QueueUrl=self.url, MessageBody=body)


def new_queue(endpoint: str) -> EmulatedQueue:
    boto, name = client("sqs", endpoint=endpoint), f"test-{uuid.uuid4().hex}"
    aside = boto.create_queue(QueueName=f"{name}-aside")["QueueUrl"]
    arn = boto.get_queue_attributes(QueueUrl=aside, AttributeNames=["QueueArn"])
    policy = {
        "deadLetterTargetArn": arn["Attributes"]["QueueArn"],
        "maxReceiveCount": MOST_RECEIVED,
    }
    attributes = {"RedrivePolicy": json.dumps(policy), "VisibilityTimeout": "0"}
    url = boto.create_queue(QueueName=name, Attributes=attributes)["QueueUrl"]
    return EmulatedQueue(boto, cast("str", url), cast("str", aside))
