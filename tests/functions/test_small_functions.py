"""Who gets an account, what is cleaned up, and what each function has to load."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.functions.container import PACKAGES, ROOT, Failed, container
from tests.functions.place import Cloud
from tests.letting_in import Door, asked, registered

ONLY_API = {"mcp", "mangum"}
NOT_FOR_SIGN_UP = ONLY_API | {"boto3", "fastapi", "numpy", "httpx"}


def sign_up(address: str) -> dict[str, object]:
    return {
        "triggerSource": "PreSignUp_AdminCreateUser",
        "request": {"userAttributes": {"email": address}},
        "response": {"autoConfirmUser": False},
    }


def test_only_the_owners_addresses_get_an_account(cloud: Cloud, folder: Path) -> None:
    with container("pre_signup", folder, cloud.environment) as asked_first:
        for address in ("ana@example.com", "Ben@Example.com"):
            assert asked_first.invoke(sign_up(address)) == sign_up(address)
        for address in ("eve@example.com", "", "ana@example.com.evil.example"):
            with pytest.raises(Failed, match="NotInvited"):
                asked_first.invoke(sign_up(address))
        assert "eve@example.com" not in asked_first.log


def test_without_a_list_nobody_gets_an_account(folder: Path) -> None:
    with container("pre_signup", folder, {}) as asked_first, pytest.raises(Failed):
        asked_first.invoke(sign_up(""))


def test_cleanup_removes_what_has_expired(cloud: Cloud, door: Door, folder: Path) -> None:
    client = registered(door)["client_id"]
    assert asked(door, client).status_code == 200
    later = {**cloud.environment}

    with container("cleanup", folder, later) as cleanup:
        assert cleanup.invoke({}).keys() == {
            "apps", "superseded", "rejected", "earlier_texts", "audit",
        }  # fmt: skip


@pytest.mark.parametrize("function", ["worker", "cleanup", "reindex", "pre_signup"])
def test_only_the_api_loads_what_it_takes_to_speak_mcp(
    cloud: Cloud, folder: Path, function: str
) -> None:
    loads = "import runpy, sys; runpy.run_path(sys.argv[1]); print(*sys.modules)"
    handler = ROOT / "functions" / function / "handler.py"

    run = subprocess.run(
        [sys.executable, "-c", loads, handler],
        env={"PATH": os.environ["PATH"], "PYTHONPATH": PACKAGES, **cloud.environment},
        cwd=folder, capture_output=True, text=True, check=True,
    )  # fmt: skip

    unwanted = NOT_FOR_SIGN_UP if function == "pre_signup" else ONLY_API
    assert unwanted & set(run.stdout.splitlines()[-1].split()) == set()
