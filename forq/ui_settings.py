"""Django's settings for the admin UI process: the API's, and what a browser needs."""

from forq.settings import *  # noqa: F403
from forq.settings import FORQ

ROOT_URLCONF = "forq.ui_urls"
MIDDLEWARE = [
    "adminui.middleware.SecurityHeaders",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
]
# Serves the files where they lie, so that nothing has to be collected before the start.
WHITENOISE_USE_FINDERS = True

SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = FORQ.env == "pro"
SESSION_COOKIE_SAMESITE = CSRF_COOKIE_SAMESITE = "Strict"
SESSION_COOKIE_NAME = "forq_session"
CSRF_COOKIE_NAME = "forq_csrf"
CSRF_COOKIE_HTTPONLY = True
SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https") if FORQ.trust_proxy_headers else None
