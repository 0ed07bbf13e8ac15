"""The `keeproom` command, as its user has it: each time in a process of its own."""

import json
import multiprocessing
import os
import subprocess
import sys
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

KEEPROOM = [sys.executable, "-c", "from keeproom.cli import main; main()"]
PATIENCE = 60.0  # seconds for a command

# A command is forked off a process that has loaded what all of them need: that takes a second.
_loaded = multiprocessing.get_context("forkserver")
_loaded.set_forkserver_preload(["keeproom.cli"])


def run(
    env: Mapping[str, str], *words: str, stdin: str = "", cwd: Path | None = None
) -> subprocess.CompletedProcess[str]:
    with TemporaryDirectory() as made:
        folder = Path(made)
        (folder / "0").write_text(stdin)
        process = _loaded.Process(target=_run, args=(folder, dict(env), words, cwd or Path.cwd()))
        process.start()
        process.join(PATIENCE)
        if process.exitcode is None:
            process.kill()
            process.join()
        out, err = ((folder / name).read_text() for name in "12")
        assert process.exitcode is not None
        return subprocess.CompletedProcess(words, process.exitcode, out, err)


def _run(folder: Path, env: Mapping[str, str], words: tuple[str, ...], cwd: Path) -> None:
    """With the files of that folder as its standard streams."""
    from keeproom.cli import main  # noqa: PLC0415  in the command's own process

    for number, flags in enumerate(
        (os.O_RDONLY, os.O_WRONLY | os.O_CREAT, os.O_WRONLY | os.O_CREAT)
    ):
        os.dup2(os.open(folder / str(number), flags, 0o600), number)
    sys.stdin = open(0, closefd=False)  # noqa: SIM115
    os.environ.clear()
    os.environ.update(env)
    os.chdir(cwd)
    sys.argv = ["keeproom", *words]
    main()


def told(env: Mapping[str, str], *words: str, stdin: str = "") -> Any:
    done = run(env, *words, "--json", stdin=stdin)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@contextmanager
def serving(env: Mapping[str, str], log: Path) -> Generator[tuple[subprocess.Popen[str], str]]:
    """The process and its address, taken from what it prints. `log`: its error stream."""
    with log.open("w") as errors:
        process = subprocess.Popen(
            [*KEEPROOM, "serve", "--port", "0"],
            env={**env},
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
        )
    assert process.stdout
    try:
        first = process.stdout.readline()
        yield process, next(word for word in first.split() if word.startswith("http://"))
    finally:
        process.kill()
        process.communicate()
