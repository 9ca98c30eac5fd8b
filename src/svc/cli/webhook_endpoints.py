"""`svc webhook-endpoints`: register webhook endpoints."""

from svc.cli.framework.nouns import noun_app
from svc.service.webhook_endpoints import RESOURCE

app = noun_app(RESOURCE)
