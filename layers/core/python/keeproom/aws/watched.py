"""What a function tells its log and CloudWatch: events, ids, counts and times, never content."""

import logging
import warnings
from collections.abc import Callable
from functools import wraps
from typing import Any, override

from aws_lambda_powertools import Logger, Metrics
from aws_lambda_powertools.logging.utils import copy_config_to_registered_loggers
from aws_lambda_powertools.metrics import MetricUnit
from aws_lambda_powertools.utilities.batch import (
    BatchProcessor,
    EventType,
    process_partial_response,  # pyright: ignore[reportUnknownVariableType]
)

from keeproom.errors import place_of

type Handler = Callable[[Any, Any], Any]

RESERVE = 10.0  # seconds before a run's time ends in which nothing is begun
_log = logging.getLogger(__name__)


class Failed(Exception):
    """A run that has ended in an error; the log has its type and place."""


class Counted(logging.Handler):
    """Makes metrics of what the product logs: each request and each recall."""

    def __init__(self, metrics: Metrics) -> None:
        super().__init__(logging.INFO)
        self._metrics = metrics

    @override
    def emit(self, record: logging.LogRecord) -> None:
        told = record.__dict__
        match told.get("event"):
            case "request":
                self._add("Latency", told["ms"], MetricUnit.Milliseconds)
                self._add("ServerErrors", int(told["status"] >= 500))
            case "recall":
                self._add("RecallsHybrid", int(told["mode"] == "hybrid"))
                self._add("RecallsKeywordOnly", int(told["mode"] != "hybrid"))
            case "index_lag":
                self._add("IndexLag", told["waiting"])
            case _:
                return

    def _add(self, name: str, value: float, unit: MetricUnit = MetricUnit.Count) -> None:
        self._metrics.add_metric(name=name, unit=unit, value=value)


def watched(handler: Handler, *, correlation: str = "") -> Handler:
    """The same handler, whose runs are logged and counted. `correlation`: where in an event its
    own id stands. An error nobody expected ends the run as `Failed`: its message may hold what
    was sent, and the runtime would log it."""
    log, metrics = Logger(service="keeproom"), Metrics(namespace="Keeproom", service="keeproom")
    product = logging.getLogger("keeproom")
    product.setLevel(logging.INFO)
    product.addHandler(Counted(metrics))
    copy_config_to_registered_loggers(source_logger=log, include={"keeproom"})
    warnings.filterwarnings("ignore", "No application metrics to publish")  # many runs have none
    logging.getLogger("mangum").setLevel(logging.CRITICAL + 1)  # it would log a trace in full

    @wraps(handler)
    def answered(event: Any, context: Any) -> Any:  # noqa: ANN401  whatever the trigger sends
        try:
            return handler(event, context)
        except Exception as error:  # noqa: BLE001  the last resort of a function
            kind, place = type(error).__name__, place_of(error)
        log.error("failed", error=kind, at=place)
        raise Failed(kind)

    with_ids = log.inject_lambda_context(
        answered, correlation_id_path=correlation or None, clear_state=True
    )
    return metrics.log_metrics(with_ids, capture_cold_start_metric=True)


def seconds_left(context: Any) -> float:  # noqa: ANN401  the runtime's own
    """How long work may still be begun in this run."""
    return context.get_remaining_time_in_millis() / 1000 - RESERVE


def each_message(event: Any, context: Any, one: Callable[[Any], None]) -> Any:  # noqa: ANN401
    """Hand over each message of a queue's event. The answer names those that raised an error, so
    that the queue brings these alone again."""

    def noted(record: Any) -> None:  # noqa: ANN401  a message as Powertools reads it
        try:
            one(record)
        except Exception as error:
            _log.error("message failed error=%s at=%s", type(error).__name__, place_of(error))
            raise

    processor = BatchProcessor(event_type=EventType.SQS, raise_on_entire_batch_failure=False)
    return process_partial_response(
        event=event, record_handler=noted, processor=processor, context=context
    )
