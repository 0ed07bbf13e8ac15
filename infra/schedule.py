"""What happens by itself: upkeep. Every run may happen twice, so few tries are enough."""

# jsii names the parameters of an interface otherwise than those of its classes.
# pyright: reportArgumentType=false

from aws_cdk import Duration
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_lambda_destinations as destinations
from aws_cdk import aws_scheduler as scheduler
from aws_cdk import aws_sqs as sqs
from aws_cdk.aws_scheduler_targets import LambdaInvoke
from constructs import Construct

TRIES = 2


class Schedules(Construct):
    """`failed`: where a run goes that could not be started, or ended in an error."""

    def __init__(
        self,
        scope: Construct,
        id: str,
        *,
        reindex: lambda_.Function,
        cleanup: lambda_.Function,
        failed: sqs.Queue,
    ) -> None:
        super().__init__(scope, id)
        every = Duration.minutes(5)
        daily = scheduler.ScheduleExpression.cron(hour="4", minute="17")
        for name, function, when, age in (
            ("Reindex", reindex, scheduler.ScheduleExpression.rate(every), every),
            ("Cleanup", cleanup, daily, Duration.hours(1)),
        ):
            function.configure_async_invoke(
                on_failure=destinations.SqsDestination(failed),
                retry_attempts=TRIES,
                max_event_age=age,
            )
            target = LambdaInvoke(
                function, dead_letter_queue=failed, retry_attempts=TRIES, max_event_age=age
            )
            scheduler.Schedule(self, name, schedule=when, target=target)
