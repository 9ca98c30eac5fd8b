"""`svc payouts`: send money to receiving banks."""

from svc.cli.framework.nouns import noun_app
from svc.service.payouts import RESOURCE

app = noun_app(RESOURCE)
