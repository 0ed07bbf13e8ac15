"""What `cdk` runs: `npx cdk deploy -c owner_emails=you@example.com`."""

import sys

from aws_cdk import App

from infra.options import Options
from infra.stack import Keeproom

# Told with every command: the program asks nothing of the application that only destroying needs.
KEPT = (
    "`cdk destroy` keeps the tables and the bucket, so all memories: docs/aws.md says how to use "
    "them again, and how to remove them.\n"
)

app = App()
try:
    options = Options.read(app.node)
except ValueError as error:
    sys.exit(str(error))
Keeproom(app, "Keeproom", options=options)
app.synth()
sys.stderr.write(KEPT)
