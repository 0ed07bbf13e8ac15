"""Every door of the vault, behind the HTTP API."""

from keeproom import compose, doors
from keeproom.aws.lambda_asgi import lambda_handler
from keeproom.settings import read_settings

_settings = read_settings()
_app = doors.application(
    compose.cloud(_settings).vault,
    compose.letting_in_cloud(_settings),
    owner="",
    public_url=_settings.public_url,
    wake=compose.waker(_settings),
)
handler = lambda_handler(_app, _app.router.lifespan_context(_app))
