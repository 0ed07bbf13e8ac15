"""How it is: alarms for what somebody has to look at, and one dashboard."""

# jsii names the parameters of an interface otherwise than those of its classes.
# pyright: reportArgumentType=false

from collections.abc import Mapping

from aws_cdk import Duration, Stack
from aws_cdk import aws_apigatewayv2 as gateway
from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_cloudwatch_actions as actions
from aws_cdk import aws_iam as iam
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_sns as sns
from aws_cdk import aws_sns_subscriptions as subscriptions
from constructs import Construct

from infra.storage import Storage

OWN = "Keeproom"  # the namespace and the service of the functions' own metrics
QUARTER = Duration.minutes(15)


class Watch(Construct):
    """`email`: who is told of alarms; nobody when it is empty."""

    def __init__(
        self,
        scope: Construct,
        id: str,
        *,
        storage: Storage,
        api: gateway.HttpApi,
        functions: Mapping[str, lambda_.Function],
        email: str,
    ) -> None:
        super().__init__(scope, id)
        alarms = {
            "FailedJobs": _waiting(
                storage.failed_jobs.metric_approximate_number_of_messages_visible
            ),
            "FailedRuns": _waiting(
                storage.failed_runs.metric_approximate_number_of_messages_visible
            ),
            "ApiErrors": api.metric_server_error(period=QUARTER, statistic="Sum"),
            "WorkerErrors": functions["worker"].metric_errors(period=QUARTER),
            "IndexLag": _own("IndexLag", "Minimum"),
        }
        self._alarms = [
            self._alarm(name, metric, above=100 if name == "IndexLag" else 0)
            for name, metric in alarms.items()
        ]
        if email:
            self._tell(email)
        board = cloudwatch.Dashboard(self, "Dashboard", default_interval=Duration.days(1))
        board.add_widgets(
            cloudwatch.AlarmStatusWidget(title="Alarms", alarms=self._alarms, width=24)
        )
        board.add_widgets(
            _graph("Requests", [api.metric_count(), api.metric_server_error()]),
            _graph("Latency, ms", [_own("Latency", "p50"), _own("Latency", "p95")]),
            _graph("Recalls", [_own("RecallsHybrid"), _own("RecallsKeywordOnly")]),
        )
        board.add_widgets(
            _graph("Functions: errors", [one.metric_errors() for one in functions.values()]),
            _graph(
                "Functions: ms, p95",
                [one.metric_duration(statistic="p95") for one in functions.values()],
            ),
            _graph(
                "Waiting",
                [
                    _own("IndexLag", "Maximum"),
                    _waiting(storage.jobs.metric_approximate_number_of_messages_visible),
                ],
            ),
        )
        region = Stack.of(self).region
        self.url = (
            f"https://{region}.console.aws.amazon.com/cloudwatch/home?region={region}"
            f"#dashboards/dashboard/{board.dashboard_name}"
        )

    def _alarm(self, name: str, metric: cloudwatch.Metric, *, above: int) -> cloudwatch.Alarm:
        return metric.create_alarm(
            self,
            name,
            threshold=above,
            evaluation_periods=1,
            comparison_operator=cloudwatch.ComparisonOperator.GREATER_THAN_THRESHOLD,
            treat_missing_data=cloudwatch.TreatMissingData.NOT_BREACHING,
        )

    def _tell(self, email: str) -> None:
        topic = sns.Topic(self, "Alarms", enforce_ssl=True)
        # A topic with a policy of its own has lost the one by which alarms reach it.
        here = {"StringEquals": {"aws:SourceAccount": Stack.of(self).account}}
        topic.grant_publish(iam.ServicePrincipal("cloudwatch.amazonaws.com", conditions=here))
        topic.add_subscription(subscriptions.EmailSubscription(email))
        for alarm in self._alarms:
            alarm.add_alarm_action(actions.SnsAction(topic))


def _waiting(metric: object) -> cloudwatch.Metric:
    assert callable(metric)
    made = metric(period=QUARTER, statistic="Maximum")
    assert isinstance(made, cloudwatch.Metric)
    return made


def _own(name: str, statistic: str = "Sum") -> cloudwatch.Metric:
    return cloudwatch.Metric(
        namespace=OWN,
        metric_name=name,
        dimensions_map={"service": OWN.lower()},
        statistic=statistic,
        period=QUARTER,
        label=statistic if statistic.startswith("p") else None,
    )


def _graph(title: str, metrics: list[cloudwatch.Metric]) -> cloudwatch.GraphWidget:
    return cloudwatch.GraphWidget(title=title, left=list(metrics), width=8)
