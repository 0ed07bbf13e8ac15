"""Build the two layers of the functions without Docker: `python scripts/layers.py MACHINE`.

MACHINE is `aarch64`, where they run on AWS, or `x86_64`. The layers come to lie in
`build/layers/MACHINE/deps` and `.../core`. Two builds are equal, file by file. With `--docs` the
sizes are also written into docs/aws.md.
"""

import hashlib
import os
import shutil
import subprocess
import sys
import tomllib
import zipfile
from collections import Counter
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path

ROOT = Path(__file__).parents[1]
LOCK = ROOT / "requirements/aws.lock"
CORE = ROOT / "layers/core/python/keeproom"
UV = ROOT / ".uv/bin/uv"
LAYERS = ("deps", "core")
RUNTIME = "3.13"  # of the functions; bytecode is for one version alone
GLIBC = "manylinux_2_28"  # the runtime's system has 2.34
PLACE = "/opt/python"  # where Lambda unpacks a layer's `python`
MOST_ZIPPED, MOST_UNZIPPED = 60.0, 150.0  # MB; Lambda refuses 250 MB with everything

# Data of the services that the product calls; a tenth of what botocore brings.
SERVICES = ("bedrock-runtime", "dynamodb", "s3", "secretsmanager", "sqs", "sso", "sso-oidc", "sts")
NEEDLESS = (
    "bin",
    "grpc",  # opensearch-py names it and imports it only for a transport that is not used
    "grpcio-*",
    "*/**/tests",
    "*/**/*.pyi",
    "**/*.a",
    "numpy/f2py",
    "numpy/_core/include",
    "numpy/random/_examples",
    "numpy/random/lib",
    "*.dist-info/RECORD",
    "*.dist-info/INSTALLER",
    "*.dist-info/REQUESTED",
    "*.dist-info/direct_url.json",
    "*.dist-info/sboms",
    ".lock",
)
HEAD = "| package | unzipped, kB | zipped, kB |\n|---|---|---|"
BEGIN, END = "<!-- layers -->", "<!-- /layers -->"


def main() -> None:
    machine = sys.argv[1]
    if machine not in ("aarch64", "x86_64"):
        sys.exit(__doc__)
    out = ROOT / "build/layers" / machine
    made = [make(out, machine, name) for name in LAYERS]
    if any(made) or "--docs" in sys.argv:
        sizes = {name: measured(out / name) for name in LAYERS}
        tell(sizes)
        if "--docs" in sys.argv:
            write_table(sizes)


def make(out: Path, machine: str, name: str) -> bool:
    """Whether there was anything to do."""
    stamp, wanted = out / f"{name}.stamp", hashed(machine, name)
    if stamp.exists() and stamp.read_text() == wanted:
        return False
    python = out / name / "python"
    shutil.rmtree(out / name, ignore_errors=True)
    if name == "deps":
        install(python, machine)
        strip(python)
    else:
        shutil.copytree(CORE, python / "keeproom", ignore=shutil.ignore_patterns("__pycache__"))
        describe(python)
    compile_all(python)
    stamp.write_text(wanted)
    return True


def hashed(machine: str, name: str) -> str:
    """What the layer is made of."""
    sources = [LOCK] if name == "deps" else [ROOT / "pyproject.toml", *sorted(files(CORE))]
    digest = hashlib.sha256(f"{machine} {compiler()}".encode())
    for path in (Path(__file__), *sources):
        digest.update(path.relative_to(ROOT).as_posix().encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()


def files(folder: Path) -> Iterator[Path]:
    for path in folder.rglob("*"):
        if path.is_file() and "__pycache__" not in path.parts:
            yield path


def install(target: Path, machine: str) -> None:
    """Wheels only, with their hashes checked."""
    command = (
        UV, "pip", "install", "--quiet", "--target", target,
        "--python-platform", f"{machine}-{GLIBC}", "--python-version", RUNTIME,
        "--only-binary", ":all:", "--no-deps", "--require-hashes", "--no-compile-bytecode",
        "--link-mode", "copy", "-r", LOCK,
    )  # fmt: skip
    subprocess.run(command, check=True)


def strip(python: Path) -> None:
    for pattern in NEEDLESS:
        for path in list(python.glob(pattern)):
            if path.is_dir():
                shutil.rmtree(path)
            else:
                path.unlink(missing_ok=True)
    for path in (python / "botocore/data").iterdir():
        if path.is_dir() and path.name not in SERVICES:
            shutil.rmtree(path)


def describe(python: Path) -> None:
    """What `importlib.metadata` reads."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    name, version = project["name"], project["version"]
    metadata = python / f"{name}-{version}.dist-info/METADATA"
    metadata.parent.mkdir()
    metadata.write_text(f"Metadata-Version: 2.4\nName: {name}\nVersion: {version}\n")


def compiler() -> str:
    """A Python of the runtime's version; empty when this machine has none."""
    if sys.version_info[:2] == tuple(map(int, RUNTIME.split("."))):
        return sys.executable
    run = subprocess.run(
        (UV, "python", "find", RUNTIME), capture_output=True, text=True, check=False
    )
    return run.stdout.strip()


def compile_all(python: Path) -> None:
    """Bytecode that is not compared with its source: unpacking changes the times."""
    if not compiler():
        say(f"No Python {RUNTIME} here: without bytecode, each cold start takes longer.")
        return
    command = (
        compiler(), "-m", "compileall", "-q", "-j", "1", "--invalidation-mode", "unchecked-hash",
        "-s", python, "-p", PLACE, python,
    )  # fmt: skip
    subprocess.run(command, check=True, env={**os.environ, "PYTHONHASHSEED": "0"})


type Sizes = dict[str, tuple[int, int]]  # bytes of each package: as it is, and zipped


def measured(layer: Path) -> Sizes:
    plain, packed = Counter[str](), Counter[str]()
    for path in (path for path in layer.rglob("*") if path.is_file()):
        parts = path.relative_to(layer / "python").parts
        name = parts[0].partition("-")[0].partition(".")[0].lower()
        data = path.read_bytes()
        plain[name] += len(data)
        packed[name] += zipped(data)
    return {name: (size, packed[name]) for name, size in plain.most_common()}


def zipped(data: bytes) -> int:
    buffer = BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("x", data)
    return len(buffer.getvalue())


def tell(sizes: dict[str, Sizes]) -> None:
    unzipped, packed = totals(sizes)
    say(f"layers: {unzipped:.1f} MB, zipped {packed:.1f} MB")
    if unzipped > MOST_UNZIPPED or packed > MOST_ZIPPED:
        say(table(sizes))
        sys.exit(f"The layers may have {MOST_UNZIPPED} MB, and {MOST_ZIPPED} MB zipped.")


def totals(sizes: dict[str, Sizes]) -> tuple[float, float]:
    """MB."""
    every = [size for layer in sizes.values() for size in layer.values()]
    return sum(plain for plain, _ in every) / 1e6, sum(packed for _, packed in every) / 1e6


def table(sizes: dict[str, Sizes], *, least: int = 200_000) -> str:
    every = sorted((pair, name) for layer in sizes.values() for name, pair in layer.items())[::-1]
    large = [(name, pair) for pair, name in every if pair[0] >= least]
    small = [pair for pair, _ in every if pair[0] < least]
    rows = [
        *large,
        (f"{len(small)} smaller ones", summed(small)),
        ("**both layers**", summed([pair for pair, _ in every])),
    ]
    told = (f"| {name} | {a // 1000:,} | {b // 1000:,} |" for name, (a, b) in rows)
    return "\n".join([HEAD, *told])


def summed(pairs: list[tuple[int, int]]) -> tuple[int, int]:
    return sum(plain for plain, _ in pairs), sum(packed for _, packed in pairs)


def write_table(sizes: dict[str, Sizes]) -> None:
    document = ROOT / "docs/aws.md"
    text = document.read_text(encoding="utf-8")
    before, after = text.partition(BEGIN)[0], text.partition(END)[2]
    document.write_text(f"{before}{BEGIN}\n{table(sizes)}\n{END}{after}", encoding="utf-8")


def say(text: str) -> None:
    print(text, flush=True)


if __name__ == "__main__":
    main()
