"""`svc landed-cost-quotes`: duties, taxes and fees; `svc quotes` is short for it."""

from svc.cli.framework.nouns import noun_app
from svc.service.landed_cost_quotes import RESOURCE

app = noun_app(RESOURCE)
