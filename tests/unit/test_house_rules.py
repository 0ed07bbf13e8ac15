"""The rules in `tests/conftest.py`, each seen to bite."""

import os
import shutil
import socket
import subprocess
import sys
from pathlib import Path

import pytest

CONFTEST = Path(__file__).parents[1] / "conftest.py"


def run_pytest(folder: Path, test: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run one test file under our conftest in a process of its own."""
    shutil.copy(CONFTEST, folder / "conftest.py")
    (folder / "pytest.ini").write_text("[pytest]\n")
    (folder / "test_one.py").write_text(test)
    return subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"],
        cwd=folder,
        env={
            **os.environ,
            "REQUIRE_ALL": "",
            "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
            **environment,
        },
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )


SKIPPED = "import pytest\n@pytest.mark.skip(reason='no engine here')\ndef test_it(): ...\n"
SKIPPED_MODULE = "import pytest\npytest.importorskip('no_such_package')\n"


def test_a_skip_passes_on_a_developers_machine(tmp_path: Path) -> None:
    assert run_pytest(tmp_path, SKIPPED).returncode == 0


@pytest.mark.parametrize(
    ("test", "reason"), [(SKIPPED, "no engine here"), (SKIPPED_MODULE, "no_such_package")]
)
def test_a_skip_fails_with_its_reason_where_all_is_required(
    tmp_path: Path, test: str, reason: str
) -> None:
    run = run_pytest(tmp_path, test, REQUIRE_ALL="1")

    assert run.returncode != 0
    assert reason in run.stdout


def test_an_aws_endpoint_elsewhere_stops_the_run(tmp_path: Path) -> None:
    remote = "https://dynamodb.example.com"

    run = run_pytest(tmp_path, "def test_it(): ...\n", AWS_ENDPOINT_URL_DYNAMODB=remote)

    assert run.returncode == 4
    assert "AWS_ENDPOINT_URL_DYNAMODB" in run.stdout + run.stderr


def test_an_aws_endpoint_here_is_welcome(tmp_path: Path) -> None:
    here = "http://127.0.0.1:4566"

    assert run_pytest(tmp_path, "def test_it(): ...\n", AWS_ENDPOINT_URL=here).returncode == 0


def test_another_machine_is_out_of_reach() -> None:
    # Connecting a datagram socket sends nothing, even if the guard should fail.
    with (
        socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as datagrams,
        pytest.raises(pytest.fail.Exception),
    ):
        datagrams.connect(("192.0.2.1", 9))


def test_this_machine_is_within_reach() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        socket.create_connection(server.getsockname()).close()
