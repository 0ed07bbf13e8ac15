"""Every refusal of the authorization server. `code` is the RFC's own word; the message is for
people and never repeats what was sent.

OAuthError
├── InvalidRequest           a parameter is missing, repeated or makes no sense
├── InvalidClient            no such client, or it did not prove to be it
├── InvalidGrant             a code or refresh token that is not, or no longer, good
├── InvalidScope             nothing that was asked for can be given
├── InvalidTarget            a token for something that is not ours
├── UnsupportedGrantType     neither `authorization_code` nor `refresh_token`
├── UnsupportedResponseType  anything but `code`
├── AccessDenied             the owner said no
├── InvalidRedirectUri       an address that no code is sent to
├── InvalidClientMetadata    a registration that makes no sense
├── TooMany                  too many at once; `retry_after` seconds
├── NotAuthenticated         an access token that opens nothing
└── SignInFailed             the browser came back without proof of who is in front of it
    └── NotAllowed           it is proved, and it is not the owner
"""

from typing import ClassVar


class OAuthError(Exception):
    code: ClassVar[str] = "server_error"


class InvalidRequest(OAuthError):
    code = "invalid_request"


class InvalidClient(OAuthError):
    code = "invalid_client"


class InvalidGrant(OAuthError):
    code = "invalid_grant"


class InvalidScope(OAuthError):
    code = "invalid_scope"


class InvalidTarget(OAuthError):
    code = "invalid_target"


class UnsupportedGrantType(OAuthError):
    code = "unsupported_grant_type"


class UnsupportedResponseType(OAuthError):
    code = "unsupported_response_type"


class AccessDenied(OAuthError):
    code = "access_denied"


class InvalidRedirectUri(OAuthError):
    code = "invalid_redirect_uri"


class InvalidClientMetadata(OAuthError):
    code = "invalid_client_metadata"


class TooMany(OAuthError):
    code = "temporarily_unavailable"

    def __init__(self, message: str, *, retry_after: int) -> None:
        super().__init__(message)
        self.retry_after = retry_after


class NotAuthenticated(OAuthError):
    """`code` is what the challenge of a 401 says as its `error`."""

    code = "invalid_token"


class SignInFailed(OAuthError):
    """`reason`: in one word, for the audit; empty for what anybody can bring about."""

    code = "access_denied"

    def __init__(self, message: str, *, reason: str = "") -> None:
        super().__init__(message)
        self.reason = reason


class NotAllowed(SignInFailed):
    """The person may sign out and come back as another."""
