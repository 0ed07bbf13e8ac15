"""The one address: an HTTP API that hands everything to one function, which answers for itself."""

# jsii names the parameters of an interface otherwise than those of its classes.
# pyright: reportArgumentType=false

from typing import cast

from aws_cdk import RemovalPolicy
from aws_cdk import aws_apigatewayv2 as gateway
from aws_cdk import aws_certificatemanager as acm
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_logs as logs
from aws_cdk import aws_route53 as route53
from aws_cdk import aws_route53_targets as targets
from aws_cdk.aws_apigatewayv2_integrations import HttpLambdaIntegration
from constructs import Construct

from infra.options import Domain

# Some gateways rename `WWW-Authenticate`, and then no client finds out where to sign in.
CHALLENGE = [
    {
        "Source": "$response.header.x-mcp-challenge",
        "Destination": "overwrite:header.WWW-Authenticate",
    }
]
# No query: it may hold what is searched for.
LOGGED = {
    "request": "$context.requestId",
    "method": "$context.httpMethod",
    "path": "$context.path",
    "status": "$context.status",
    "ms": "$context.responseLatency",
    "error": "$context.integrationErrorMessage",
}


class Edge(Construct):
    """No authoriser and no CORS: the application has both. `url`: what the vault is known by,
    without a slash at its end. `target`: where a domain without a zone has to point to."""

    def __init__(self, scope: Construct, id: str, *, domain: Domain | None) -> None:
        super().__init__(scope, id)
        self.api = gateway.HttpApi(
            self, "Api", create_default_stage=False, disable_execute_api_endpoint=domain is not None
        )
        name = self._domain(domain) if domain else None
        self.target = name.regional_domain_name if name and domain and not domain.zone else ""
        self.url = f"https://{domain.name}" if domain else self.api.api_endpoint
        log = logs.LogGroup(
            self,
            "Log",
            retention=logs.RetentionDays.ONE_MONTH,
            removal_policy=RemovalPolicy.DESTROY,
        )
        self.stage = gateway.HttpStage(
            self,
            "Stage",
            http_api=self.api,
            stage_name="$default",
            auto_deploy=True,
            throttle=gateway.ThrottleSettings(rate_limit=50, burst_limit=100),
            domain_mapping=gateway.DomainMappingOptions(domain_name=name) if name else None,
        )
        stage = cast("gateway.CfnStage", self.stage.node.default_child)
        stage.access_log_settings = gateway.CfnStage.AccessLogSettingsProperty(
            destination_arn=log.log_group_arn, format=_json(LOGGED)
        )

    def serve(self, function: lambda_.IFunction) -> None:
        """Let it answer every request."""
        route = gateway.HttpRoute(
            self,
            "Route",
            http_api=self.api,
            route_key=gateway.HttpRouteKey.DEFAULT,
            integration=HttpLambdaIntegration(
                "Integration",
                function,
                payload_format_version=gateway.PayloadFormatVersion.VERSION_2_0,
            ),
        )
        found = [*self.api.node.find_all(), *route.node.find_all()]
        for one in {
            id(one): one for one in found if isinstance(one, gateway.CfnIntegration)
        }.values():
            one.add_property_override(
                "ResponseParameters", {"401": {"ResponseParameters": CHALLENGE}}
            )

    def _domain(self, domain: Domain) -> gateway.DomainName:
        zone = self._zone(domain)
        certificate: acm.ICertificate = (
            acm.Certificate(
                self,
                "Certificate",
                domain_name=domain.name,
                validation=acm.CertificateValidation.from_dns(zone),
            )
            if zone
            else acm.Certificate.from_certificate_arn(self, "Certificate", domain.certificate)
        )
        name = gateway.DomainName(self, "Domain", domain_name=domain.name, certificate=certificate)
        if zone:
            target = targets.ApiGatewayv2DomainProperties(
                name.regional_domain_name, name.regional_hosted_zone_id
            )
            route53.ARecord(
                self,
                "Record",
                zone=zone,
                record_name=f"{domain.name}.",
                target=route53.RecordTarget.from_alias(target),
            )
        return name

    def _zone(self, domain: Domain) -> route53.IHostedZone | None:
        if not domain.zone:
            return None
        return route53.HostedZone.from_hosted_zone_attributes(
            self, "Zone", hosted_zone_id=domain.zone, zone_name=domain.name
        )


def _json(fields: dict[str, str]) -> str:
    return "{" + ",".join(f'"{name}":"{value}"' for name, value in fields.items()) + "}"
