"""A real OpenSearch with k-NN on this machine, put together by Maven."""

import hashlib
import json
import os
import shutil
import subprocess
import sys
import urllib.request
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from clients.places import free_port
from keeproom.clock import tries

HERE = Path(__file__).resolve().parent
CACHE = HERE.parents[1] / ".search-engine"
HEAP = "512m"
PATIENCE = 120.0  # seconds until it must answer; it takes 8


def missing() -> str:
    """What this machine lacks to run it, in words; empty when nothing."""
    if shutil.which("javac") is None:  # what runs Node.java
        return "no Java compiler: install a JDK, 17 or newer"
    if not _jars().is_dir() and shutil.which("mvn") is None:
        return "no Maven: install maven"
    return ""


@contextmanager
def running(folder: Path) -> Generator[str]:
    """Its address. Everything it writes is below the folder; it ends when this process does."""
    jars, port = _resolved(), free_port()
    java = [
        "java", f"-Xms{HEAP}", f"-Xmx{HEAP}", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1",
        f"-Dlog4j2.configurationFile={HERE / 'log4j2.properties'}",
        "-cp", f"{jars}/*", str(HERE / "Node.java"), str(folder), str(port),
    ]  # fmt: skip
    log = folder / "node.log"
    with log.open("wb") as out:
        run = subprocess.Popen(java, stdin=subprocess.PIPE, stdout=out, stderr=out, cwd=folder)
    try:
        url = f"http://127.0.0.1:{port}"
        _wait(run, url, log)
        yield url
    finally:
        run.kill()
        run.communicate()


def _jars() -> Path:
    pom = (HERE / "pom.xml").read_bytes()
    return CACHE / f"jars-{hashlib.sha256(pom).hexdigest()[:12]}"


def _resolved() -> Path:
    """The folder of jars, fetched once for each content of pom.xml."""
    jars = _jars()
    if not jars.is_dir():
        CACHE.mkdir(exist_ok=True)
        part = jars.with_name(f"{jars.name}-{os.getpid()}.part")
        fetch = ["mvn", "-q", "-B", "-ntp", "-f", str(HERE / "pom.xml"), "package"]
        subprocess.run([*fetch, f"-Djars={part}"], check=True, stdout=sys.stderr)
        part.rename(jars)
    return jars


def _wait(run: "subprocess.Popen[bytes]", url: str, log: Path) -> None:
    for _ in tries(PATIENCE):
        if run.poll() is not None:
            break
        try:
            with urllib.request.urlopen(f"{url}/_cluster/health", timeout=5) as answer:
                if json.load(answer)["status"] == "green":
                    return
        except OSError:
            continue
    raise RuntimeError(f"OpenSearch did not start:\n{log.read_text(errors='replace')[-4000:]}")
