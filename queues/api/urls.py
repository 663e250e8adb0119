from __future__ import annotations

from django.urls import path

from queues.api import docs_views, views

urlpatterns = [
    path("healthcheck", views.healthcheck),
    path("api/openapi.json", docs_views.openapi),
    path("api/docs", docs_views.docs),
    path("api/docs.css", docs_views.docs_style),
]
