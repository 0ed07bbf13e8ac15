"""What clients read before they come: where everything is, and what is spoken here."""

from collections.abc import Mapping, Sequence

from keeproom.oauth.authorization import Authorization
from keeproom.oauth.model import SCOPES, AuthMethod

type Metadata = Mapping[str, str | bool | Sequence[str]]


def protected_resource(auth: Authorization) -> Metadata:
    """RFC 9728: what tokens are for, and who gives them."""
    return {
        "resource": auth.resource,
        "authorization_servers": [auth.issuer],
        "scopes_supported": list(SCOPES),
        "bearer_methods_supported": ["header"],
        "resource_name": "Keeproom",
    }


def authorization_server(auth: Authorization) -> Metadata:
    """RFC 8414. Some clients publish a document only where `none` is listed."""
    methods = [str(method) for method in AuthMethod]
    return {
        "issuer": auth.issuer,
        "authorization_endpoint": f"{auth.issuer}/authorize",
        "token_endpoint": f"{auth.issuer}/token",
        "registration_endpoint": f"{auth.issuer}/register",
        "revocation_endpoint": f"{auth.issuer}/revoke",
        "scopes_supported": list(SCOPES),
        "response_types_supported": ["code"],
        "response_modes_supported": ["query"],
        "grant_types_supported": ["authorization_code", "refresh_token"],
        "token_endpoint_auth_methods_supported": methods,
        "revocation_endpoint_auth_methods_supported": methods,
        "code_challenge_methods_supported": ["S256"],
        "client_id_metadata_document_supported": True,
        "authorization_response_iss_parameter_supported": True,
        "service_documentation": f"{auth.issuer}/connect",
    }
