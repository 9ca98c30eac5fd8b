"""`svc payments`: retrieve and list payments."""

from svc.cli.framework.nouns import noun_app
from svc.service.payments import RESOURCE

app = noun_app(RESOURCE)
