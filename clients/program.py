"""A client library, driven line by line through one of `programs/`."""

import json
import queue
import subprocess
import threading
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from clients.person import approve
from clients.session import Failed, NotLetIn

PATIENCE = 40.0  # seconds for one answer
LOOK = 0.25  # seconds between two looks at whether an answer will come at all


class Program:
    """A running program that has been approved once and asks in vain from then on."""

    version = protocol = ""

    def __init__(self, run: "subprocess.Popen[str]") -> None:
        self._run = run
        self._said: queue.Queue[str | None] = queue.Queue()
        self._listener = threading.Thread(target=self._listen)
        self._listener.start()
        self._may_ask = True

    def begin(self) -> None:
        """Until it is connected. It is approved on the way."""
        begun = self._answer()
        self._may_ask = False
        self.version, self.protocol = begun["version"], begun["protocol"]

    def end(self) -> None:
        self._run.kill()
        self._listener.join()

    def tools(self) -> list[str]:
        return self._ask(do="tools")["tools"]

    def call(self, tool: str, **arguments: Any) -> dict[str, Any]:
        answer = self._ask(do="call", tool=tool, arguments=arguments)
        if "refused" in answer:
            raise Failed(f"{tool}: {answer['refused']}")
        return answer["result"]

    def spoil(self) -> None:
        self._ask(do="spoil")

    def refresh_token(self) -> str:
        return self._ask(do="tokens")["refresh_token"]

    def _ask(self, **command: Any) -> dict[str, Any]:
        self._say(command)
        return self._answer()

    def _say(self, said: Mapping[str, Any]) -> None:
        assert self._run.stdin is not None
        try:
            self._run.stdin.write(json.dumps(said) + "\n")
            self._run.stdin.flush()
        except BrokenPipeError as error:
            raise Failed("the program has ended") from error

    def _listen(self) -> None:
        assert self._run.stdout is not None
        for line in self._run.stdout:
            self._said.put(line)
        self._said.put(None)

    def _answer(self) -> dict[str, Any]:
        while True:
            line = self._line()
            if line is None:
                raise Failed(f"the program has ended: {self._last_words()}")
            said = _read(line)
            if "turned_away" in said:
                raise NotLetIn(said["turned_away"])
            if "authorize" not in said:
                if said:
                    return said
            elif not self._may_ask:
                raise NotLetIn
            else:
                self._say({"callback": approve(said["authorize"])})

    def _line(self) -> str | None:
        for _ in range(int(PATIENCE / LOOK)):
            try:
                return self._said.get(timeout=LOOK)
            except queue.Empty:
                if self.asks_again():
                    raise NotLetIn from None
        raise Failed(f"no answer within {PATIENCE:.0f} s")

    def asks_again(self) -> bool:
        """Whether it has gone to be approved once more, and will not answer before it is."""
        return False

    def _last_words(self) -> str:
        assert self._run.stderr is not None
        self._run.kill()
        return self._run.stderr.read()[-600:].strip()


def _read(line: str) -> dict[str, Any]:
    """Libraries may write lines of their own."""
    try:
        said = json.loads(line)
    except ValueError:
        return {}
    return said if isinstance(said, dict) else {}  # pyright: ignore[reportUnknownVariableType]


@contextmanager
def running[P: Program](
    command: Sequence[str | Path], environment: Mapping[str, str], *, kind: type[P]
) -> Generator[P]:
    """From nothing to approved. Raises `Failed`."""
    with subprocess.Popen(
        command,
        env=environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as run:
        session = kind(run)
        try:
            session.begin()
            yield session
        finally:
            session.end()
