"""`keeproom doctor`: why an app cannot connect."""

import sys
import webbrowser
from collections.abc import Mapping
from dataclasses import asdict
from typing import Annotated

import typer

from keeproom.cli.terminal import Json, app, note, say, say_json
from keeproom.engines.doctor.callback import listening
from keeproom.engines.doctor.examine import examine, http_client, mcp_address
from keeproom.engines.doctor.target import Finding, Health, Target

Address = Annotated[str, typer.Argument(help="Address of the vault, with or without /mcp.")]
NoBrowser = Annotated[
    bool, typer.Option("--no-browser", help="Print the approval page's address; open nothing.")
]
Wait = Annotated[float, typer.Option(help="Seconds to wait for the approval.", min=1)]


@app.command()
def doctor(
    url: Address, no_browser: NoBrowser = False, wait: Wait = 300, json: Json = False
) -> None:
    """Connect to a vault as an app does, and name the step that fails. Exit code 1 if one does."""
    findings: list[Finding] = []
    with listening() as back, http_client() as http:

        def visit(address: str) -> Mapping[str, str] | None:
            note(f"Approve in the browser, on this machine:\n{address}")
            if not no_browser:
                webbrowser.open(address)
            return back.wait(seconds=wait)

        target = Target(mcp=mcp_address(url), http=http, redirect=back.address, visit=visit)
        for finding in examine(target):
            findings.append(finding)
            if not json:
                say(_told(finding))
    if json:
        say_json([asdict(finding) for finding in findings])
    if findings[-1].health is Health.FAIL:
        sys.exit(1)


def _told(finding: Finding) -> str:
    line = f"{finding.health:5}{finding.step}: {finding.saw}"
    if not finding.cause:
        return line
    return f"{line}\n     Likely: {finding.cause}\n     Do:     {finding.remedy}"
