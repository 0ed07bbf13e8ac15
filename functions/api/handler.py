"""Every door of the vault, behind the HTTP API."""

import gc

gc.disable()  # while all that stays is loaded, there is no garbage to look for

from keeproom import compose, doors  # noqa: E402
from keeproom.aws.lambda_asgi import lambda_handler  # noqa: E402
from keeproom.settings import read_settings  # noqa: E402

_settings = read_settings()
_authorization = compose.cloud_authorization(_settings)
_app = doors.application(
    compose.cloud(_settings).vault,
    _authorization,
    owner="",
    public_url=_settings.public_url,
    sign_in=compose.cloud_sign_in(_settings, _authorization),
    wake=compose.waker(_settings),
)
handler = lambda_handler(_app, _app.router.lifespan_context(_app))
gc.freeze()
gc.enable()
