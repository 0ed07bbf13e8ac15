"""What outlives the stack: both tables and the bucket. Queues, which do not."""

from aws_cdk import Duration, RemovalPolicy
from aws_cdk import aws_dynamodb as dynamodb
from aws_cdk import aws_s3 as s3
from aws_cdk import aws_sqs as sqs
from constructs import Construct

WORK = Duration.minutes(15)  # how long the worker may take for one message
TRIES = 3


class Storage(Construct):
    """`vault`: memories and all that belongs to them. `grants`: who has been let in. `blobs`:
    the search snapshot and large files. `jobs`: tells the worker that there is work.
    `vault_table`, `grants_table`: a table that is there already and stays as it is; empty for a
    new one."""

    def __init__(
        self, scope: Construct, id: str, *, vault_table: str = "", grants_table: str = ""
    ) -> None:
        super().__init__(scope, id)
        self.vault = self._table("Vault", kept=vault_table)
        self.grants = self._table("Grants", kept=grants_table, expires="ttl")
        self.blobs = s3.Bucket(
            self,
            "Blobs",
            block_public_access=s3.BlockPublicAccess.BLOCK_ALL,
            encryption=s3.BucketEncryption.S3_MANAGED,
            enforce_ssl=True,
            object_ownership=s3.ObjectOwnership.BUCKET_OWNER_ENFORCED,
            lifecycle_rules=[
                s3.LifecycleRule(prefix="uploads/", expiration=Duration.days(1)),
                s3.LifecycleRule(abort_incomplete_multipart_upload_after=Duration.days(1)),
            ],
            removal_policy=RemovalPolicy.RETAIN,
        )
        self.failed_jobs = self._queue("FailedJobs")
        self.failed_runs = self._queue("FailedRuns")
        self.jobs = self._queue(
            "Jobs",
            visibility_timeout=Duration.seconds(6 * WORK.to_seconds()),
            dead_letter_queue=sqs.DeadLetterQueue(queue=self.failed_jobs, max_receive_count=TRIES),
        )

    def _table(self, id: str, *, kept: str, expires: str | None = None) -> dynamodb.ITableV2:
        if kept:
            return dynamodb.TableV2.from_table_name(self, id, kept)
        string = dynamodb.AttributeType.STRING
        return dynamodb.TableV2(
            self,
            id,
            partition_key=dynamodb.Attribute(name="pk", type=string),
            sort_key=dynamodb.Attribute(name="sk", type=string),
            time_to_live_attribute=expires,
            billing=dynamodb.Billing.on_demand(),
            point_in_time_recovery_specification=dynamodb.PointInTimeRecoverySpecification(
                point_in_time_recovery_enabled=True
            ),
            deletion_protection=True,
            removal_policy=RemovalPolicy.RETAIN,
        )

    def _queue(
        self,
        id: str,
        *,
        visibility_timeout: Duration | None = None,
        dead_letter_queue: sqs.DeadLetterQueue | None = None,
    ) -> sqs.Queue:
        return sqs.Queue(
            self,
            id,
            encryption=sqs.QueueEncryption.SQS_MANAGED,
            enforce_ssl=True,
            retention_period=Duration.days(14),
            visibility_timeout=visibility_timeout,
            dead_letter_queue=dead_letter_queue,
        )
