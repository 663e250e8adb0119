"""The admin UI's entry for a WSGI server."""

import os

from django.core.wsgi import get_wsgi_application

os.environ["DJANGO_SETTINGS_MODULE"] = "forq.ui_settings"

application = get_wsgi_application()
