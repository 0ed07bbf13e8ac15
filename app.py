"""What `cdk` runs: `npx cdk deploy -c owner_emails=you@example.com`."""

from aws_cdk import App

from infra.options import Options
from infra.stack import Keeproom

app = App()
Keeproom(app, "Keeproom", options=Options.read(app.node))
app.synth()
