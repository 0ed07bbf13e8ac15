"""One fresh interpreter: `python cold_start.py HANDLER.py` answers the event on its input, and
`python cold_start.py` loads what that had loaded, without our code. Each tells its CPU seconds."""

import gc
import importlib
import json
import runpy
import sys
import time
from typing import Any

OURS = ("keeproom", "tests", "evals", "__main__", "clients")


class Context:
    function_name = "api"
    memory_limit_in_mb = 1769
    invoked_function_arn = "arn:aws:lambda:eu-west-1:000000000000:function:api"
    aws_request_id = "1"

    def get_remaining_time_in_millis(self) -> int:
        return 29_000


def answered(handler: str) -> dict[str, Any]:
    event = json.load(sys.stdin)
    answer = runpy.run_path(handler)["handler"](event, Context())
    cpu = time.process_time()
    return {
        "cpu": cpu,
        "answer": answer["body"],
        "modules": [name for name, module in sys.modules.items() if foreign(name, module)],
        "clients": clients(),
    }


def foreign(name: str, module: object) -> bool:
    place = getattr(module, "__file__", None) or ""
    return "site-packages" in place and not name.startswith(OURS)


def clients() -> list[str]:
    kind = importlib.import_module("botocore.client").BaseClient
    gc.unfreeze()  # the handler has frozen them
    made: list[Any] = [one for one in gc.get_objects() if isinstance(one, kind)]
    return [one.meta.service_model.service_name for one in made]


def loaded() -> dict[str, Any]:
    told = json.load(sys.stdin)
    for name in told["modules"]:
        importlib.import_module(name)
    make = importlib.import_module("boto3").client
    config = importlib.import_module("botocore.config").Config(retries={"total_max_attempts": 1})
    kept = [make(name, config=config) for name in told["clients"]]
    return {"cpu": time.process_time(), "clients": len(kept)}


def main() -> None:
    out = sys.stdout
    sys.stdout = sys.stderr
    told = answered(sys.argv[1]) if sys.argv[1:] else loaded()
    out.write(json.dumps(told))


if __name__ == "__main__":
    main()
