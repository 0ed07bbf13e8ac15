"""The entry point and its last line of defence."""

import logging
import sys

from keeproom.cli import doctor, imports, mcp, memories, serve, token, upkeep
from keeproom.cli.terminal import app, fail
from keeproom.errors import VaultError

# Each adds its commands to the application.
COMMANDS = (memories, imports, upkeep, serve, token, mcp, doctor)


def main() -> None:
    """Exit codes: 0 done, 1 refused or failed (one line says why), 2 wrong usage, 130 Ctrl-C."""
    logging.basicConfig(level=logging.WARNING, format="%(levelname)s %(name)s %(message)s")
    try:
        app(standalone_mode=True)
    except VaultError as error:
        fail(str(error))
    except KeyboardInterrupt:
        sys.exit(130)
    except BrokenPipeError:
        sys.exit(141)
    except Exception as error:  # noqa: BLE001  one line instead of a trace that may hold content
        fail(f"Something unexpected went wrong ({type(error).__name__}).")
