"""The vault's own programs: `keeproom mcp` on the vault's folder, and `keeproom doctor`."""

import json
import subprocess
import sys

from clients.instructions import DOCTOR, STDIO, command
from clients.libraries import PROGRAMS
from clients.places import product_environment
from clients.program import Program, running
from clients.scenario import TOOLS, expect
from clients.visit import Visit

SERVE = [sys.executable, "-c", "from keeproom.cli import main; main()"]


def stdio(visit: Visit) -> str:
    """There is nobody to approve it: it opens the vault itself."""
    words = command(visit.address, STDIO)[1:]
    asked = [sys.executable, PROGRAMS / "stdio.py", "{}", *SERVE, *words]
    environment = product_environment(visit.home)
    with running(asked, environment, kind=Program) as session:
        expect(len(session.tools()) == len(TOOLS), "not the seven tools")
        kept = session.call("remember", content="Ana keeps bees")
        expect("bees" in str(session.call("recall", query="bees")["hits"]), "not recalled")
        session.call("forget", id=kept["id"])
        return session.protocol


def doctor(visit: Visit) -> str:
    words = command(visit.address, DOCTOR)[1:]
    environment = {**product_environment(visit.home), **visit.environment()}
    done = subprocess.run(
        [*SERVE, *words, "--wait", "30", "--json"], env=environment, capture_output=True,
        text=True, timeout=60, check=False,
    )  # fmt: skip
    expect(done.returncode == 0, done.stdout[-400:] + done.stderr[-400:])
    found = json.loads(done.stdout)
    expect({one["health"] for one in found} == {"ok"}, f"not all is well: {found}")
    expect(not visit.owner.grants(), "it left its grant behind")
    return f"{len(found)} steps"
