"""How a program is driven: commands and answers are lines of JSON, one answer to each command.

    {"do": "tools"}                                 -> {"tools": ["recall", ...]}
    {"do": "call", "tool": "...", "arguments": {}}  -> {"result": {...}}, {"refused": "..."}
                                                       or {"turned_away": "..."}
    {"do": "spoil"}                                 -> {"spoilt": true}; the next call must refresh
    {"do": "tokens"}                                -> {"refresh_token": "..."}

Before any answer a program may write {"authorize": address}: somebody opens the page, and writes
{"callback": address the browser was sent to}. Standard library only: every environment runs it.
"""

import json
import sys
from typing import Any


def tell(**said: Any) -> None:
    sys.stdout.write(json.dumps(said) + "\n")
    sys.stdout.flush()


def hear() -> dict[str, Any] | None:
    """None: nobody will say anything any more."""
    line = sys.stdin.readline()
    return json.loads(line) if line else None
