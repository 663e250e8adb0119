from __future__ import annotations

from django.urls import path

from queues.api import views

urlpatterns = [
    path("healthcheck", views.healthcheck),
]
