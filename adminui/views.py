from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe


@require_safe
def first_page(request: HttpRequest) -> HttpResponse:
    return render(request, "adminui/first_page.html", {"api": settings.FORQ.api_addr.reachable()})
