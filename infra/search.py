"""The search collection: rebuilt from the table whenever need be, and asleep when nobody asks."""

import re
from collections.abc import Sequence

from aws_cdk import Stack
from aws_cdk import aws_iam as iam
from aws_cdk import aws_opensearchserverless as aoss
from constructs import Construct

LONGEST_NAME = 32
# What the functions do with the index; `aoss:APIAccessAll` alone opens nothing.
INDEX_PERMISSIONS = (
    "aoss:CreateIndex",
    "aoss:DeleteIndex",
    "aoss:UpdateIndex",
    "aoss:DescribeIndex",
    "aoss:ReadDocument",
    "aoss:WriteDocument",
)


class Search(Construct):
    """A NextGen VECTORSEARCH collection that scales to zero. Names are demanded here: they are
    made of the stack's."""

    def __init__(self, scope: Construct, id: str) -> None:
        super().__init__(scope, id)
        self._name = _name(Stack.of(self).stack_name)
        here = {"ResourceType": "collection", "Resource": [f"collection/{self._name}"]}
        before = (
            self._policy("Encryption", "encryption", {"Rules": [here], "AWSOwnedKey": True}),
            self._policy("Network", "network", [{"Rules": [here], "AllowFromPublic": True}]),
        )
        group = aoss.CfnCollectionGroup(
            self,
            "Group",
            name=self._name,
            generation="NEXTGEN",
            standby_replicas="ENABLED",
            capacity_limits=aoss.CfnCollectionGroup.CapacityLimitsProperty(
                min_indexing_capacity_in_ocu=0,
                min_search_capacity_in_ocu=0,
                max_indexing_capacity_in_ocu=2,
                max_search_capacity_in_ocu=2,
            ),
        )
        self._collection = aoss.CfnCollection(
            self,
            "Collection",
            name=self._name,
            type="VECTORSEARCH",
            collection_group_name=group.name,
            standby_replicas="ENABLED",
        )
        for needed in (*before, group):
            self._collection.add_resource_dependency(needed)

    @property
    def endpoint(self) -> str:
        return self._collection.attr_collection_endpoint

    def grant(self, *roles: iam.Role) -> None:
        """Let these alone use the index."""
        for role in roles:
            role.add_to_policy(
                iam.PolicyStatement(
                    actions=["aoss:APIAccessAll"], resources=[self._collection.attr_arn]
                )
            )
        aoss.CfnAccessPolicy(
            self,
            "Access",
            name=self._name,
            type="data",
            policy=self._json([_access(self._name, [role.role_arn for role in roles])]),
        )

    def _policy(self, id: str, kind: str, policy: object) -> aoss.CfnSecurityPolicy:
        return aoss.CfnSecurityPolicy(
            self, id, name=self._name, type=kind, policy=self._json(policy)
        )

    def _json(self, policy: object) -> str:
        return Stack.of(self).to_json_string(policy)


def _access(name: str, principals: Sequence[str]) -> dict[str, object]:
    rule = {
        "ResourceType": "index",
        "Resource": [f"index/{name}/*"],
        "Permission": list(INDEX_PERMISSIONS),
    }
    return {"Rules": [rule], "Principal": list(principals)}


def _name(stack: str) -> str:
    """Lower-case letters, digits and hyphens, 3 to 32, a letter first."""
    plain = re.sub(r"[^a-z0-9-]", "-", stack.lower()).strip("-")
    return f"{plain}-index"[-LONGEST_NAME:].lstrip("-0123456789")
