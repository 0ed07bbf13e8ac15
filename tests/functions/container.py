"""A function's container on this machine: an interpreter of its own that runs the real handler, one
event after another, as Lambda's runtime does. `python -m tests.functions.container HANDLER.py`
reads events and writes answers, one JSON value a line."""

import json
import os
import runpy
import subprocess
import sys
import time
import uuid
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]

PACKAGES = os.pathsep.join([str(ROOT / "layers/core/python"), str(ROOT)])


def clean(**more: str) -> dict[str, str]:
    """An environment with nothing by chance."""
    return {"PATH": os.environ["PATH"], "PYTHONPATH": PACKAGES, **more}


class Failed(Exception):
    """The handler raised an error: its type and message as Lambda would report them."""


class Context:
    function_name = "keeproom"
    memory_limit_in_mb = 1024
    invoked_function_arn = "arn:aws:lambda:eu-west-1:000000000000:function:keeproom"

    def __init__(self, seconds: float) -> None:
        self.aws_request_id = str(uuid.uuid4())
        self._until = time.monotonic() + seconds

    def get_remaining_time_in_millis(self) -> int:
        return int(1000 * (self._until - time.monotonic()))


class Container:
    """`log`: what the function has written so far."""

    def __init__(self, run: "subprocess.Popen[str]", log: Path) -> None:
        self._run, self._log = run, log

    @property
    def log(self) -> str:
        return self._log.read_text()

    def kill(self) -> None:
        """In the middle of whatever it is about."""
        self._run.kill()

    def invoke(self, event: Any, *, seconds: float = 29.0) -> Any:
        """Raises `Failed`."""
        assert self._run.stdin is not None
        assert self._run.stdout is not None
        self._run.stdin.write(json.dumps({"event": event, "seconds": seconds}) + "\n")
        self._run.stdin.flush()
        line = self._run.stdout.readline()
        if not line:
            raise RuntimeError(f"the container has ended: {self.log[-2000:]}")
        told = json.loads(line)
        if "failed" in told:
            raise Failed(told["failed"])
        return told["answer"]


@contextmanager
def container(
    function: str, folder: Path, environment: Mapping[str, str], *, place: Path | None = None
) -> Generator[Container]:
    """With nothing of this process's environment in it. `place`: another folder of the handler."""
    place = ROOT / "functions" / function if place is None else place
    log = folder / f"{function}-{uuid.uuid4().hex}.log"
    with log.open("w") as written:
        run = subprocess.Popen(
            [sys.executable, "-m", "tests.functions.container", place / "handler.py"],
            env={
                "PATH": os.environ["PATH"],
                "PYTHONPATH": PACKAGES,
                "PYTHONUNBUFFERED": "1",
                "AWS_LAMBDA_FUNCTION_NAME": function,
                **environment,
            },
            cwd=folder,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=written,
            text=True,
        )
        try:
            yield Container(run, log)
        finally:
            run.kill()
            run.communicate()


def main() -> None:
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what the function prints is its log
    handler = runpy.run_path(sys.argv[1])["handler"]
    for line in sys.stdin:
        asked = json.loads(line)
        try:
            told = {"answer": handler(asked["event"], Context(asked["seconds"]))}
        except Exception as error:  # noqa: BLE001  as the runtime does
            told = {"failed": f"{type(error).__name__}: {error}"}
        answers.write(json.dumps(told) + "\n")
        answers.flush()


if __name__ == "__main__":
    main()
