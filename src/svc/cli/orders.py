"""`svc orders`: create, retrieve, update, capture, cancel and list orders."""

from svc.cli.framework.nouns import noun_app
from svc.service.orders import RESOURCE

app = noun_app(RESOURCE)
