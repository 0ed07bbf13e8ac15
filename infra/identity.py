"""Who the owner is: a Cognito pool that nobody can join, and its sign-in pages."""

import hashlib
from collections.abc import Sequence
from typing import cast

from aws_cdk import Duration, Fn, RemovalPolicy, SecretValue, Stack
from aws_cdk import aws_cognito as cognito
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_secretsmanager as secrets
from constructs import Construct

from infra.options import Federated, Options

CALLBACK = "/auth/callback"
SIGNED_OUT = "/auth/signed-out"
SECRET = "OIDC_CLIENT_SECRET"  # its name within the secret
FIRST_PASSWORD = Duration.days(7)  # how long it is good


class Identity(Construct):
    """`issuer`, `client_id`, `logout_url`: as the application is told. `secret`: what it must not
    be told in its environment. `provider_callback`: where another provider sends browsers back."""

    def __init__(
        self,
        scope: Construct,
        id: str,
        *,
        options: Options,
        url: str,
        pre_signup: lambda_.IFunction,
    ) -> None:
        super().__init__(scope, id)
        self.pool = self._pool(options.sign_in, url, pre_signup)
        self._invite(options.owner_emails)
        domain = self.pool.add_domain(
            "Domain",
            cognito_domain=cognito.CognitoDomainOptions(domain_prefix=_unique(Stack.of(self))),
            managed_login_version=cognito.ManagedLoginVersion.NEWER_MANAGED_LOGIN,
        )
        provider = self._federated(options.federated) if options.federated else None
        client = self._client(url, provider)
        # Without it the pages stay empty.
        cognito.CfnManagedLoginBranding(
            self,
            "Branding",
            user_pool_id=self.pool.user_pool_id,
            client_id=client.user_pool_client_id,
            use_cognito_provided_values=True,
        )
        inner = cast("cognito.CfnUserPoolClient", client.node.default_child)
        self.secret = secrets.Secret(
            self,
            "Secret",
            description="What the vault must not be told in its environment",
            secret_object_value={SECRET: SecretValue.resource_attribute(inner.attr_client_secret)},
        )
        stack = Stack.of(self)
        self.issuer = (
            f"https://cognito-idp.{stack.region}.{stack.url_suffix}/{self.pool.user_pool_id}"
        )
        self.client_id = client.user_pool_client_id
        self.logout_url = f"{domain.base_url()}/logout"
        self.provider_callback = f"{domain.base_url()}/oauth2/idpresponse" if provider else ""

    def _pool(
        self, sign_in: frozenset[str], url: str, pre_signup: lambda_.IFunction
    ) -> cognito.UserPool:
        second, passkey = "mfa" in sign_in, "passkey" in sign_in
        # By a code comes who has neither a passkey yet nor, in such a pool, a first password.
        code = passkey or "email_code" in sign_in
        return cognito.UserPool(
            self,
            "Pool",
            self_sign_up_enabled=False,
            user_invitation=_invitation(url, password=not code),
            sign_in_aliases=cognito.SignInAliases(email=True),
            sign_in_case_sensitive=False,
            auto_verify=cognito.AutoVerifiedAttrs(email=True),
            account_recovery=cognito.AccountRecovery.EMAIL_ONLY,
            feature_plan=cognito.FeaturePlan.ESSENTIALS,
            password_policy=cognito.PasswordPolicy(
                min_length=14,
                temp_password_validity=FIRST_PASSWORD,
                require_lowercase=True,
                require_uppercase=True,
                require_digits=True,
                require_symbols=True,
            ),
            sign_in_policy=cognito.SignInPolicy(
                allowed_first_auth_factors=cognito.AllowedFirstAuthFactors(
                    password=True,  # which Cognito demands
                    passkey=passkey,
                    email_otp=code,
                )
            ),
            passkey_user_verification=cognito.PasskeyUserVerification.REQUIRED if passkey else None,
            mfa=cognito.Mfa.REQUIRED if second else cognito.Mfa.OFF,
            mfa_second_factor=cognito.MfaSecondFactor(otp=True, sms=False) if second else None,
            lambda_triggers=cognito.UserPoolTriggers(pre_sign_up=pre_signup),
            removal_policy=RemovalPolicy.DESTROY,
        )

    def _invite(self, addresses: Sequence[str]) -> None:
        """Cognito writes to each of them."""
        for address in dict.fromkeys(map(str.lower, addresses)):
            user = cognito.CfnUserPoolUser(
                self,
                # The same whoever else is on the list: the account must not be made again.
                f"Owner{hashlib.sha256(address.encode()).hexdigest()[:8]}",
                user_pool_id=self.pool.user_pool_id,
                username=address,
                desired_delivery_mediums=["EMAIL"],
                user_attributes=[
                    cognito.CfnUserPoolUser.AttributeTypeProperty(name=name, value=value)
                    for name, value in (("email", address), ("email_verified", "true"))
                ],
            )
            # Its trigger is asked first: without the permission beside the pool that is an error.
            user.node.add_dependency(self.pool)

    def _federated(self, asked: Federated) -> cognito.UserPoolIdentityProviderOidc:
        return cognito.UserPoolIdentityProviderOidc(
            self,
            "Federated",
            user_pool=self.pool,
            name="Federated",
            client_id=asked.client_id,
            # A reference, which CloudFormation resolves: the template does not hold the secret.
            client_secret=SecretValue.secrets_manager(asked.secret).unsafe_unwrap(),
            issuer_url=asked.issuer,
            scopes=["openid", "email"],
            attribute_mapping=cognito.AttributeMapping(
                email=cognito.ProviderAttribute.other("email"),
                email_verified=cognito.ProviderAttribute.other("email_verified"),
            ),
        )

    def _client(
        self, url: str, provider: cognito.UserPoolIdentityProviderOidc | None
    ) -> cognito.UserPoolClient:
        known = cognito.UserPoolClientIdentityProvider
        providers = [known.COGNITO, *([known.custom(provider.provider_name)] if provider else [])]
        return self.pool.add_client(
            "Vault",
            generate_secret=True,
            auth_flows=cognito.AuthFlow(user=True, user_srp=True),
            o_auth=cognito.OAuthSettings(
                flows=cognito.OAuthFlows(authorization_code_grant=True),
                scopes=[cognito.OAuthScope.OPENID, cognito.OAuthScope.EMAIL],
                callback_urls=[f"{url}{CALLBACK}"],
                logout_urls=[f"{url}{SIGNED_OUT}"],
            ),
            supported_identity_providers=providers,
            prevent_user_existence_errors=True,
            enable_token_revocation=True,
            id_token_validity=Duration.minutes(5),
            access_token_validity=Duration.minutes(5),
            refresh_token_validity=Duration.hours(1),
        )


def _invitation(url: str, *, password: bool) -> cognito.UserInvitationConfig:
    by = "a code that is e-mailed to you"
    if password:
        by = f"the first password {{####}} within {FIRST_PASSWORD.to_days():.0f} days"
    return cognito.UserInvitationConfig(
        email_subject="Your Keeproom vault",
        email_body=f"Your vault is at {url}/ - sign in there as {{username}} with {by}.",
    )


def _unique(stack: Stack) -> str:
    """Prefixes are one for all customers of AWS, so a piece of the stack's id goes into it."""
    return f"vault-{Fn.select(0, Fn.split('-', Fn.select(2, Fn.split('/', stack.stack_id))))}"
