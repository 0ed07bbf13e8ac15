"""The emulator with what it lacks: `python taught.py`, in the emulator's own environment.

It learns resource types of CloudFormation it does not know, to keep what it drops from tables, to
go by the names AWS gives, to refer to secrets as it does, to send browsers to a pool's own domain,
and to map response headers as an HTTP API does. `front.py` beside it gives it those names. Each
thing it learns is looked for first, so that a newer emulator that knows it by itself is noticed.
"""

import asyncio
import hashlib
import importlib.metadata
import json
import os
import re
import sys
import threading
from pathlib import Path

import cryptography  # noqa: F401  without it sign-in tokens carry a dummy signature
import ministack.app as emulator
from hypercorn.asyncio import serve
from hypercorn.config import Config
from ministack.services import apigateway, apigateway_v1, cognito, dynamodb
from ministack.services import opensearchserverless as aoss
from ministack.services.cloudformation import provisioners

sys.path.insert(0, str(Path(__file__).parent))
import front

VERSION = "1.5.33"  # whose insides these are
KNOWN = provisioners._RESOURCE_HANDLERS
REGION = os.environ["AWS_DEFAULT_REGION"]
API_HOST = re.compile(r"^([a-f0-9]{8})\.execute-api\.")


def asked(service, operation, **parameters):
    """The answer of one operation. Raises `ValueError`, which fails the stack."""
    told = {name: value for name, value in parameters.items() if value is not None}
    status, _, body = service(operation, told)
    answer = json.loads(body) if body else {}
    if status >= 400:
        raise ValueError(f"{operation}: {answer}")
    return answer


def of_search(operation, data):
    return aoss._HANDLERS[operation](data)


def of_pools(operation, data):
    return {
        "AdminCreateUser": cognito._admin_create_user,
        "AdminDeleteUser": cognito._admin_delete_user,
    }[operation](data)


def stays(physical_id, was, wanted, stack):
    return physical_id, {}


def hashed(text):
    return hashlib.sha256(text.encode()).hexdigest()[:20]


# ---- OpenSearch Serverless: the control plane alone


def security_policy(logical_id, wanted, stack):
    asked(
        of_search,
        "CreateSecurityPolicy",
        name=wanted["Name"],
        type=wanted["Type"],
        policy=wanted["Policy"],
    )
    return wanted["Name"], {}


def access_policy(logical_id, wanted, stack):
    asked(
        of_search,
        "CreateAccessPolicy",
        name=wanted["Name"],
        type=wanted["Type"],
        policy=wanted["Policy"],
    )
    return wanted["Name"], {}


def without_policy(operation):
    def delete(physical_id, wanted):
        asked(of_search, operation, name=physical_id, type=wanted["Type"])

    return delete


def collection_group(logical_id, wanted, stack):
    if wanted.get("Generation") != "NEXTGEN":
        raise ValueError("only NextGen scales to zero")
    arn = f"arn:aws:aoss:{REGION}:000000000000:collection-group/{hashed(wanted['Name'])}"
    return hashed(wanted["Name"]), {"Arn": arn, "Id": hashed(wanted["Name"])}


def collection(logical_id, wanted, stack):
    made = asked(of_search, "CreateCollection", name=wanted["Name"], type=wanted["Type"])
    found = made["createCollectionDetail"]
    endpoint = f"https://{found['id']}.aoss.{REGION}.on.aws"
    return found["id"], {
        "Arn": found["arn"],
        "Id": found["id"],
        "CollectionEndpoint": endpoint,
        "DashboardEndpoint": f"{endpoint}/_dashboards",
    }


def made_at_once(record):
    record["_Engine"], record["_ContainerId"] = os.environ.get("SEARCH_ENGINE"), None
    record["status"] = "ACTIVE"


# ---- Cognito


def pool_user(logical_id, wanted, stack):
    """Somebody is invited, if the trigger of the pool lets them in."""
    pool, attributes = wanted["UserPoolId"], wanted.get("UserAttributes", [])
    named = {one["Name"]: one["Value"] for one in attributes}
    cognito._apply_presignup_trigger(
        pool, "", wanted["Username"], named, trigger_source="PreSignUp_AdminCreateUser"
    )
    asked(
        of_pools,
        "AdminCreateUser",
        UserPoolId=pool,
        Username=wanted["Username"],
        UserAttributes=attributes,
        MessageAction="SUPPRESS",
        TemporaryPassword=os.environ["FIRST_PASSWORD"],
    )
    return wanted["Username"], {}


def without_user(physical_id, wanted):
    asked(of_pools, "AdminDeleteUser", UserPoolId=wanted["UserPoolId"], Username=physical_id)


def branding(logical_id, wanted, stack):
    if wanted.get("UseCognitoProvidedValues") and wanted.get("Settings"):
        raise ValueError("branding has either settings or the provided values")
    return f"{wanted['UserPoolId']}|{hashed(logical_id)}", {
        "ManagedLoginBrandingId": hashed(logical_id)
    }


def described_as_on_aws(own):
    """A browser is sent to the pool's own domain. The functions, who ask no proxy, find the rest
    in the emulator, which speaks no TLS."""

    def described(pool_id, region=None, host=None, scheme="http"):
        status, headers, body = own(pool_id, region, host)
        domain = cognito._pool_domain_base_url(cognito._get_pool_unscoped(pool_id))
        entrance = {"authorization_endpoint": f"{domain}/oauth2/authorize"}
        return status, headers, json.dumps({**json.loads(body), **entrance}).encode()

    return described


MISSING = {
    "AWS::OpenSearchServerless::SecurityPolicy": (
        security_policy, without_policy("DeleteSecurityPolicy"),
    ),
    "AWS::OpenSearchServerless::AccessPolicy": (
        access_policy, without_policy("DeleteAccessPolicy"),
    ),
    "AWS::OpenSearchServerless::CollectionGroup": (collection_group, lambda *_: None),
    "AWS::OpenSearchServerless::Collection": (
        collection, lambda physical_id, _: asked(of_search, "DeleteCollection", id=physical_id),
    ),
    "AWS::Cognito::UserPoolUser": (pool_user, without_user),
    "AWS::Cognito::ManagedLoginBranding": (branding, lambda *_: None),
}  # fmt: skip


def learn():
    if importlib.metadata.version("ministack") != VERSION:
        sys.exit(f"these are the insides of ministack {VERSION}")
    for kind, (create, delete) in MISSING.items():
        if kind in KNOWN:
            sys.exit(f"the emulator knows {kind} by now: drop ours")
        KNOWN[kind] = {"create": create, "update": stays, "delete": delete}
    described = described_as_on_aws(cognito.well_known_openid_configuration)
    cognito.well_known_openid_configuration = described
    aoss._provision = aoss._start_provisioning = made_at_once
    refer_by_arn("AWS::SecretsManager::Secret")
    wrapped("AWS::DynamoDB::GlobalTable", keep_protections)
    wrapped("AWS::ApiGatewayV2::Api", name_as_aws)


def wrapped(kind, after):
    """Have `after` see what a create or an update has made, and change what it tells."""
    own = KNOWN[kind]
    create, update = own["create"], own["update"]

    def created(logical_id, wanted, *more, **named):
        return after(create(logical_id, wanted, *more, **named), wanted)

    def updated(physical_id, was, wanted, *more, **named):
        return after(update(physical_id, was, wanted, *more, **named), wanted)

    KNOWN[kind] = {**own, "create": created, "update": updated}


def refer_by_arn(kind):
    """A reference to a secret is its ARN, which permissions are given for; here it was the name."""
    own = KNOWN[kind]

    def name_of(arn):
        return arn.rpartition(":")[2][: -len("-123abc")]

    def created(*asked, **named):
        _, attributes = own["create"](*asked, **named)
        return attributes["Arn"], attributes

    def updated(arn, *asked, **named):
        _, attributes = own["update"](name_of(arn), *asked, **named)
        return attributes["Arn"], attributes

    def deleted(arn, *asked, **named):
        return own["delete"](name_of(arn), *asked, **named)

    KNOWN[kind] = {**own, "create": created, "update": updated, "delete": deleted}


def keep_protections(made, wanted):
    name, replica = made[0], wanted["Replicas"][0]
    expires = wanted.get("TimeToLiveSpecification")
    if expires:
        dynamodb._update_ttl({"TableName": name, "TimeToLiveSpecification": expires})
    dynamodb._update_continuous_backups(
        {
            "TableName": name,
            "PointInTimeRecoverySpecification": replica["PointInTimeRecoverySpecification"],
        }
    )
    dynamodb._tables[name]["DeletionProtectionEnabled"] = replica["DeletionProtectionEnabled"]
    return made


def name_as_aws(made, wanted):
    api_id, attributes = made[0], made[1]
    return api_id, {
        **attributes,
        "ApiEndpoint": f"https://{api_id}.execute-api.{REGION}.amazonaws.com",
    }


# ---- the gateway


async def app(scope, receive, send):
    """Requests to a vault's name reach its API, whatever their path; all others the emulator.
    Everything counts as sent over TLS: bucket and queue policies refuse what is not."""
    if scope["type"] != "http":
        await emulator.app(scope, receive, send)
        return
    headers = scope["headers"]
    if not any(name == b"x-forwarded-proto" for name, _ in headers):
        scope = {**scope, "headers": [*headers, (b"x-forwarded-proto", b"https")]}
    api_id = api_of(dict(headers).get(b"host", b"").decode())
    if api_id is None:
        await emulator.app(scope, receive, send)
    elif not api_id:
        await send({"type": "http.response.start", "status": 404, "headers": []})
        await send({"type": "http.response.body", "body": b'{"message":"Not Found"}'})
    else:
        prefix = f"/_aws/execute-api/{api_id}/$default"
        inside = {
            **scope,
            "path": prefix + scope["path"],
            "raw_path": prefix.encode() + scope["raw_path"],
        }
        await emulator.app(inside, receive, mapped(send, api_id))


def api_of(host):
    """The API of that name, which may be a domain of the owner's; empty when the API does not go by
    it any more."""
    for key, mappings in apigateway_v1._base_path_mappings.all_items():
        if key[-1] == host:
            return mappings["(none)"]["restApiId"] if mappings else ""
    found = API_HOST.match(host)
    if found is None:
        return None
    apis = (api for key, api in apigateway._apis.all_items() if key[-1] == found[1])
    return "" if next(apis, {}).get("disableExecuteApiEndpoint") else found[1]


def mapped(send, api_id):
    """As some gateways do, `WWW-Authenticate` is renamed; then headers are mapped as the API's
    integration says."""

    async def told(message):
        if message["type"] == "http.response.start":
            renamed = [
                (
                    b"x-amzn-remapped-www-authenticate"
                    if name.lower() == b"www-authenticate"
                    else name,
                    value,
                )
                for name, value in message["headers"]
            ]
            headers = [*renamed, *overwritten(api_id, message["status"], renamed)]
            message = {**message, "headers": headers}
        await send(message)

    return told


def overwritten(api_id, status, headers):
    sent = {name.lower(): value for name, value in headers}
    for integration in integrations(api_id):
        mapping = (integration.get("responseParameters") or {}).get(str(status)) or {}
        for one in mapping.get("ResponseParameters", ()):
            source = one["Source"].removeprefix("$response.header.").encode()
            if source in sent:
                yield (
                    one["Destination"].removeprefix("overwrite:header.").lower().encode(),
                    sent[source],
                )


def integrations(api_id):
    for key, found in apigateway._integrations.all_items():
        if key[-1] == api_id:
            yield from found.values()


def end_with_input():
    """The input ends when the tests do, however they end."""

    def last_out():
        sys.stdin.buffer.read()
        os._exit(0)

    threading.Thread(target=last_out, daemon=True).start()


async def main():
    port = os.environ["GATEWAY_PORT"]
    learn()
    config = Config()
    config.bind = [f"127.0.0.1:{port}"]
    config.keep_alive_timeout = 75
    config.errorlog = config.accesslog = None
    proxy = await front.opened(
        int(os.environ["FRONT_PORT"]), int(port), Path(os.environ["FRONT_CA"])
    )
    async with proxy:
        await serve(app, config)


if __name__ == "__main__":
    end_with_input()
    asyncio.run(main())
