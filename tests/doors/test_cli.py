"""The terminal, as its user has it."""

import json
import os
import signal
import subprocess
import urllib.error
import urllib.request
from collections.abc import Mapping
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from keeproom.local import grant_store, memory_store
from keeproom.oauth.model import Change, Finished
from tests.terminal import KEEPROOM, run, serving, told


@pytest.fixture
def env(tmp_path: Path) -> dict[str, str]:
    """No model, so that a command costs as little as it can."""
    kept = {name: os.environ[name] for name in ("PATH", "PYTHONPATH") if name in os.environ}
    return {**kept, "KEEPROOM_HOME": str(tmp_path / "home"), "KEEPROOM_EMBEDDER": "none"}


def test_a_fact_is_remembered_recalled_listed_and_forgotten(env: dict[str, str]) -> None:
    memory = told(env, "remember", "Anna plays the violin", "--tag", "Music")["memory"]
    assert (memory["status"], memory["tags"]) == ("active", ["music"])
    assert told(env, "remember", "anna plays the VIOLIN")["outcome"] == "duplicate"
    assert told(env, "recall", "violin")["data"][0]["id"] == memory["id"]
    assert told(env, "list")["id"] == memory["id"]
    assert told(env, "forget", memory["id"]) == {"forgotten": memory["id"]}
    assert run(env, "list", "--json").stdout == ""
    refused = run(env, "remember", "Anna plays the violin")
    assert refused.returncode == 1
    assert refused.stderr.count("\n") == 1


def test_files_folders_and_standard_input_are_imported(env: dict[str, str], tmp_path: Path) -> None:
    folder = tmp_path / "notes"
    (folder / ".hidden").mkdir(parents=True)
    (folder / "facts.md").write_text("# Facts\n\n- Drinks tea\n- Rides a bike\n  to work\n")
    (folder / "more.jsonl").write_text('{"content": "Born in 1980"}\n"Likes jazz"\n')
    (folder / ".hidden" / "not.md").write_text("- never read\n")
    assert told(env, "import", str(folder))["stored"] == 4
    again = told(env, "import", str(folder))
    assert (again["stored"], again["skipped_duplicate"]) == (0, 4)
    assert told(env, "import", "-", stdin="one fact\n\nanother fact\n")["stored"] == 2
    texts = [json.loads(line)["content"] for line in run(env, "list", "--json").stdout.splitlines()]
    assert texts == [
        "Drinks tea",
        "Rides a bike\nto work",
        "Born in 1980",
        "Likes jazz",
        "one fact",
        "another fact",
    ]


def test_cleanup_says_what_it_removed(env: dict[str, str]) -> None:
    told(env, "remember", "Anna plays the violin")
    expired = Finished(id="a_sign_in", expires=datetime(2026, 1, 1, tzinfo=UTC))
    with closing(grant_store.open(Path(env["KEEPROOM_HOME"]) / "grants.db")) as store:
        store.commit(Change(put=(expired,)))

    nothing = {"superseded": 0, "rejected": 0, "earlier_texts": 0, "audit": 0}
    assert told(env, "cleanup") == nothing | {"apps": 1}
    assert "0 rejected memories" in run(env, "cleanup").stdout


def test_status_says_what_there_is(env: dict[str, str]) -> None:
    told(env, "remember", "Anna plays the violin")
    found = told(env, "status")
    assert found["memories"] == {"active": 1}
    assert (found["embedding_model"], found["embedding_problem"] != "none") == ("none", True)
    assert (found["audit"], found["waiting_for_index"]) == ("whole", 1)


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (["forget", "mem_nothing"], 1),
        (["import", "no-such-file"], 1),
        (["recall", ""], 1),
        (["recall", "x", "--limit", "0"], 1),
        (["calibrate"], 1),
        (["remember"], 2),
        (["frobnicate"], 2),
    ],
)
def test_mistakes_are_told_without_a_trace(
    env: dict[str, str], words: list[str], code: int
) -> None:
    done = run(env, *words)
    assert done.returncode == code
    assert done.stderr
    assert "Traceback" not in done.stderr
    if code == 1:
        assert done.stderr.count("\n") == 1


def test_a_setting_that_makes_no_sense_is_named(env: dict[str, str]) -> None:
    done = run({**env, "PUBLIC_URL": "ftp://nowhere"}, "status")
    assert (done.returncode, "PUBLIC_URL" in done.stderr) == (1, True)


def test_a_home_that_is_a_file_is_told(env: dict[str, str], tmp_path: Path) -> None:
    (tmp_path / "file").write_text("mine")
    done = run({**env, "KEEPROOM_HOME": str(tmp_path / "file")}, "status")
    assert (done.returncode, done.stderr.count("\n")) == (1, 1)
    assert (tmp_path / "file").read_text() == "mine"


def asked(url: str) -> Any:
    with urllib.request.urlopen(url, timeout=60) as answer:
        return json.load(answer)


def test_the_vault_is_served_and_closes_cleanly_on_ctrl_c(
    env: dict[str, str], tmp_path: Path
) -> None:
    told(env, "remember", "Anna plays the violin")
    with serving(env, tmp_path / "log") as (process, address):
        assert asked(f"{address}/health")["status"] == "ok"
        hit = asked(f"{address}/api/recall?q=violin")["data"][0]
        assert hit["content"] == "Anna plays the violin"
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=60) == 0
    assert "Traceback" not in (tmp_path / "log").read_text()
    home = Path(env["KEEPROOM_HOME"])
    assert home.stat().st_mode & 0o777 == 0o700
    assert all(file.stat().st_mode & 0o077 == 0 for file in home.iterdir())


def test_what_serve_prints_connects_agents(env: dict[str, str], tmp_path: Path) -> None:
    with serving(env, tmp_path / "log") as (process, address):
        assert process.stdout
        printed = [process.stdout.readline().strip() for _ in range(4)]
        with pytest.raises(urllib.error.HTTPError) as refused:
            urllib.request.urlopen(f"{address}/mcp", timeout=60)
        refused.value.close()

    claude = f"claude mcp add --transport http keeproom {address}/mcp && claude mcp login keeproom"
    codex = f"codex mcp add keeproom --url {address}/mcp"
    assert [line for line in printed if line.endswith((claude, codex))] == [
        f"Claude Code     {claude}",
        f"Codex           {codex}",
    ]
    assert refused.value.code == 401
    metadata = f"{address}/.well-known/oauth-protected-resource/mcp"
    assert metadata in refused.value.headers["WWW-Authenticate"]


def test_a_taken_port_is_told(env: dict[str, str], tmp_path: Path) -> None:
    with serving(env, tmp_path / "log") as (_, address):
        done = run(env, "serve", "--port", address.rpartition(":")[2])
        assert (done.returncode, done.stderr.count("\n")) == (1, 1)


def test_an_import_left_unfinished_is_finished_by_the_next_start(
    env: dict[str, str], tmp_path: Path
) -> None:
    (tmp_path / "facts.md").write_text("".join(f"- fact number {n}x\n" for n in range(2000)))
    process = subprocess.Popen(
        [*KEEPROOM, "import", str(tmp_path / "facts.md")],
        env=env,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    while _stored(env) == 0:
        assert process.poll() is None
    process.kill()
    process.wait()
    assert 0 < _stored(env) < 2000
    with serving(env, tmp_path / "log") as (_, address):
        while (batch := asked(f"{address}/api/batches")["data"][0])["state"] == "running":
            assert batch["stored"] < 2000
    assert (batch["state"], batch["stored"]) == ("done", 2000)


def _stored(env: Mapping[str, str]) -> int:
    """How far the newest import is."""
    path = Path(env["KEEPROOM_HOME"]) / "vault.db"
    if not path.exists():
        return 0
    store = memory_store.open(path)
    newest = store.batches(limit=1).items
    store.close()
    return newest[0].stored if newest else 0


def test_the_data_lies_in_the_platforms_folder_unless_it_is_told(
    env: dict[str, str], tmp_path: Path
) -> None:
    env = {**env, "HOME": str(tmp_path), "PORT": "9999"}
    del env["KEEPROOM_HOME"]
    home = Path(told(env, "status")["home"])
    assert (home.name, home != tmp_path, tmp_path in home.parents) == ("keeproom", True, True)
