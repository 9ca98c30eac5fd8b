"""`svc disputes`: answer disputes with evidence."""

from svc.cli.framework.nouns import noun_app
from svc.service.disputes import RESOURCE

app = noun_app(RESOURCE)
