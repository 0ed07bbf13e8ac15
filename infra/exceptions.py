"""What cdk-nag asks for and is not done, and why. Anything else it finds fails the tests."""

_OBJECTS = "The bucket is for this vault alone: the permission is for its objects, not for buckets."
_VERSIONS = "CDK's target of a schedule may call the function's versions too: it is one function."
_REGIONS = "A profile names its regions by itself: the permission is for one model in any of them."
_PROFILED = "AwsSolutions-IAM5[Resource::arn:<AWS::Partition>:bedrock:*::foundation-model/"

EXCEPTIONS = {
    "AwsSolutions-L1": "The layer's wheels and bytecode are for Python 3.13, which AWS keeps "
    "until 2029.",
    "AwsSolutions-COG2": "A choice of the owner's: -c sign_in=password,mfa. The pool holds nobody "
    "but the invited owner.",
    "AwsSolutions-COG8": "The Plus plan costs more than the vault; nobody can sign up, and every "
    "session is checked against the list of owners.",
    "AwsSolutions-SMG4": "It holds the client secret that Cognito made. Cognito does not rotate "
    "it; docs/aws.md says how to replace it.",
    "AwsSolutions-S1": "Every access goes through the functions, which log it; logs of a second "
    "bucket would cost more than the first.",
    "AwsSolutions-SQS3": "It is where failed runs go, of schedules and functions alike, which "
    "cdk-nag does not see.",
    "AwsSolutions-APIG4": "The application lets in by itself: the owner by a session, apps by "
    "tokens that can be revoked, which no authoriser of the gateway could see.",
    "AwsSolutions-IAM5[Resource::<StorageBlobs31FE9BCB.Arn>/*]": _OBJECTS,
    f"{_PROFILED}cohere.embed-v4:0]": _REGIONS,
    f"{_PROFILED}amazon.nova-2-multimodal-embeddings-v1:0]": _REGIONS,
    "AwsSolutions-IAM5[Resource::<FunctionsReindexB3483189.Arn>:*]": _VERSIONS,
    "AwsSolutions-IAM5[Resource::<FunctionsCleanupA2D9A62F.Arn>:*]": _VERSIONS,
}
