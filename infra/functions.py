"""The five functions: each with a role of its own that may do what it has to, and no more."""

# jsii names the parameters of an interface otherwise than those of its classes.
# pyright: reportArgumentType=false

from collections.abc import Mapping
from pathlib import Path

from aws_cdk import Duration, RemovalPolicy, Stack
from aws_cdk import aws_iam as iam
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_lambda_event_sources as sources
from aws_cdk import aws_logs as logs
from constructs import Construct

from infra.storage import WORK, Storage

ROOT = Path(__file__).parents[1]
LAYERS = ROOT / "build/layers/aarch64"
# A transaction needs the permission of each of its parts. There is no Scan.
TABLE_ACTIONS = (
    "dynamodb:BatchGetItem",
    "dynamodb:BatchWriteItem",
    "dynamodb:ConditionCheckItem",
    "dynamodb:DeleteItem",
    "dynamodb:PutItem",
    "dynamodb:Query",
)
READS = ("s3:GetObject",)
KEEPS = ("s3:GetObject", "s3:PutObject")


class Functions(Construct):
    """`environment`: what those that reach the vault are told."""

    def __init__(
        self,
        scope: Construct,
        id: str,
        *,
        storage: Storage,
        url: str,
        owners: str,
        embedding_model: str,
        search: str,
    ) -> None:
        super().__init__(scope, id)
        self._layers = [self._layer("Core", "core"), self._layer("Deps", "deps")]
        self._storage = storage
        vault = {
            "VAULT_TABLE": storage.vault.table_name,
            "BLOBS_BUCKET": storage.blobs.bucket_name,
            "SEARCH": search,
            "EMBEDDING_MODEL": embedding_model,
        }
        grants = {"GRANTS_TABLE": storage.grants.table_name, "PUBLIC_URL": url}
        jobs = {"JOBS_QUEUE_URL": storage.jobs.queue_url}
        named = {"OWNER_EMAILS": owners}
        self.api = self._function(
            "Api", "api", Duration.seconds(29), 1769, vault | grants | jobs | named
        )
        self.worker = self._function("Worker", "worker", WORK, 1024, vault | jobs)
        self.reindex = self._function("Reindex", "reindex", Duration.minutes(4), 1024, vault)
        self.cleanup = self._function(
            "Cleanup", "cleanup", Duration.minutes(5), 1024, vault | grants
        )
        self._grant(embedding_model)
        self.worker.add_event_source(
            sources.SqsEventSource(storage.jobs, batch_size=1, report_batch_item_failures=True)
        )

    @property
    def of_the_vault(self) -> tuple[lambda_.Function, ...]:
        """Those that reach memories."""
        return self.api, self.worker, self.reindex, self.cleanup

    def pre_signup(self, owners: str) -> lambda_.Function:
        """Asked before anybody gets an account: it needs nothing but the list."""
        return self._function(
            "PreSignup", "pre_signup", Duration.seconds(5), 512, {"OWNER_EMAILS": owners}
        )

    def tell(self, name: str, value: str, *functions: lambda_.Function) -> None:
        for function in functions:
            function.add_environment(name, value)

    def _grant(self, model: str) -> None:
        storage = self._storage
        for function in (self.api, self.worker, self.reindex):
            role_of(function).add_to_policy(
                iam.PolicyStatement(
                    actions=["bedrock:InvokeModel"], resources=_models(Stack.of(self), model)
                )
            )
        for function in self.of_the_vault:
            storage.vault.grant(function, *TABLE_ACTIONS)
            # Without it a snapshot that is not there yet would look like one that is forbidden.
            role_of(function).add_to_policy(
                iam.PolicyStatement(actions=["s3:ListBucket"], resources=[storage.blobs.bucket_arn])
            )
        kept = {self.api: READS, self.cleanup: READS, self.worker: KEEPS, self.reindex: KEEPS}
        for function, actions in kept.items():
            role_of(function).add_to_policy(
                iam.PolicyStatement(
                    actions=list(actions), resources=[storage.blobs.arn_for_objects("*")]
                )
            )
        for function in (self.api, self.cleanup):
            storage.grants.grant(function, *TABLE_ACTIONS)
        for function in (self.api, self.worker):
            storage.jobs.grant(function, "sqs:SendMessage")

    def _layer(self, id: str, name: str) -> lambda_.LayerVersion:
        return lambda_.LayerVersion(
            self,
            id,
            code=lambda_.Code.from_asset(str(LAYERS / name)),
            compatible_runtimes=[lambda_.Runtime.PYTHON_3_13],
            compatible_architectures=[lambda_.Architecture.ARM_64],
        )

    def _function(
        self, id: str, name: str, timeout: Duration, memory: int, environment: Mapping[str, str]
    ) -> lambda_.Function:
        log = logs.LogGroup(
            self,
            f"{id}Log",
            retention=logs.RetentionDays.ONE_MONTH,
            removal_policy=RemovalPolicy.DESTROY,
        )
        role = iam.Role(self, f"{id}Role", assumed_by=iam.ServicePrincipal("lambda.amazonaws.com"))
        log.grant_write(role)
        return lambda_.Function(
            self,
            id,
            runtime=lambda_.Runtime.PYTHON_3_13,
            architecture=lambda_.Architecture.ARM_64,
            handler="handler.handler",
            code=lambda_.Code.from_asset(
                str(ROOT / "functions" / name), exclude=["**/__pycache__"]
            ),
            layers=self._layers,
            role=role,
            memory_size=memory,
            timeout=timeout,
            environment=dict(environment),
            log_group=log,
            logging_format=lambda_.LoggingFormat.JSON,
        )


def role_of(function: lambda_.Function) -> iam.Role:
    role = function.role
    assert isinstance(role, iam.Role)
    return role


def _models(stack: Stack, model: str) -> list[str]:
    """A model by its own name (`amazon.titan...`), or by a profile that goes to several regions
    (`eu.amazon...`, `global.cohere...`)."""
    _, _, rest = model.partition(".")
    if "." not in rest:
        return [f"arn:{stack.partition}:bedrock:{stack.region}::foundation-model/{model}"]
    return [
        f"arn:{stack.partition}:bedrock:{stack.region}:{stack.account}:inference-profile/{model}",
        f"arn:{stack.partition}:bedrock:*::foundation-model/{rest}",
    ]
