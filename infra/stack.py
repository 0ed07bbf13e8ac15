"""The whole deployment, on one screen."""

# jsii names the parameters of an interface otherwise than those of its classes.
# pyright: reportArgumentType=false

from aws_cdk import CfnOutput, Stack, Tags
from constructs import Construct

from infra.edge import Edge
from infra.functions import Functions, role_of
from infra.identity import Identity
from infra.options import Options
from infra.schedule import Schedules
from infra.search import Search
from infra.storage import Storage
from infra.watch import Watch


class Keeproom(Stack):
    """One vault. The tables and the bucket outlive it."""

    def __init__(self, scope: Construct, id: str, *, options: Options) -> None:
        super().__init__(scope, id, description="Keeproom: one memory for a person's AI agents")
        owners = ",".join(one.lower() for one in options.owner_emails)
        storage = Storage(
            self,
            "Storage",
            vault_table=options.vault_table,
            grants_table=options.grants_table,
        )
        edge = Edge(self, "Edge", domain=options.domain)
        functions = Functions(
            self,
            "Functions",
            storage=storage,
            url=edge.url,
            owners=owners,
            embedding_model=options.embedding_model,
            search=options.search,
        )
        pre_signup = functions.pre_signup(owners)
        identity = Identity(self, "Identity", options=options, url=edge.url, pre_signup=pre_signup)
        functions.tell("OIDC_ISSUER", identity.issuer, functions.api)
        functions.tell("OIDC_CLIENT_ID", identity.client_id, functions.api)
        functions.tell("OIDC_LOGOUT_URL", identity.logout_url, functions.api)
        functions.tell("SECRETS_ARN", identity.secret.secret_arn, functions.api)
        identity.secret.grant_read(functions.api)
        if options.search == "opensearch":
            search = Search(self, "Search")
            search.grant(*map(role_of, functions.of_the_vault))
            functions.tell("SEARCH_ENDPOINT", search.endpoint, *functions.of_the_vault)
        edge.serve(functions.api)
        Schedules(
            self,
            "Schedules",
            reindex=functions.reindex,
            cleanup=functions.cleanup,
            failed=storage.failed_runs,
        )
        watch = Watch(
            self,
            "Watch",
            storage=storage,
            api=edge.api,
            functions={
                "api": functions.api,
                "worker": functions.worker,
                "reindex": functions.reindex,
                "cleanup": functions.cleanup,
                "pre_signup": pre_signup,
            },
            email=options.alarm_email,
        )
        Tags.of(self).add("project", "keeproom")
        for name, value in {
            "McpUrl": f"{edge.url}/mcp",
            "DashboardUrl": f"{edge.url}/",
            "OperationsUrl": watch.url,
            "UserPoolId": identity.pool.user_pool_id,
            "VaultTable": storage.vault.table_name,
            "GrantsTable": storage.grants.table_name,
            "BlobsBucket": storage.blobs.bucket_name,
            "DomainTarget": edge.target,
            "ProviderCallback": identity.provider_callback,
        }.items():
            if value:
                CfnOutput(self, name, value=value)
