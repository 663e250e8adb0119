"""Django's settings for the API process; forq/ui_settings.py says what the UI has besides."""

import hashlib
import os
from pathlib import Path

from forq import config, logs
from forq.database import django_database

BASE_DIR = Path(__file__).resolve().parent.parent

FORQ = config.load(os.environ)

DEBUG = False
# Signs sessions and CSRF tokens; derived, so that neither secret can be had from the other's use.
SECRET_KEY = hashlib.sha256(b"forq django secret key\0" + FORQ.auth_secret.encode()).hexdigest()
# Forq cannot know the names it is reached by; nothing is built from the Host header.
ALLOWED_HOSTS = ["*"]

INSTALLED_APPS = [
    "django.contrib.sessions",
    "django.contrib.staticfiles",
    "adminui",
    "queues",
]
MIDDLEWARE: list[str] = []
ROOT_URLCONF = "forq.api_urls"

DATABASES = {"default": django_database(FORQ)}
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
    }
]
STATIC_URL = "static/"
# An installed copy has no such folder: its files are inside the app.
STATICFILES_DIRS = [path for path in (BASE_DIR / "static",) if path.is_dir()]

USE_TZ = True
TIME_ZONE = "UTC"
USE_I18N = False

LOGGING_CONFIG = "forq.logs.configure"
LOGGING = logs.dict_config(FORQ.log_format, FORQ.log_level)
