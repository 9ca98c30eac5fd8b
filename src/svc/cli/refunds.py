"""`svc refunds`: return all or part of a payment."""

from svc.cli.framework.nouns import noun_app
from svc.service.refunds import RESOURCE

app = noun_app(RESOURCE)
