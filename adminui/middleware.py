"""Headers that keep a page of ours from being framed, sniffed, cached or fed foreign code."""

from collections.abc import Callable

from django.http import HttpRequest
from django.http.response import HttpResponseBase

PAGE_HEADERS = {
    "Content-Security-Policy": (
        "default-src 'self'; base-uri 'none'; form-action 'self'; "
        "frame-ancestors 'none'; object-src 'none'"
    ),
    "Cross-Origin-Opener-Policy": "same-origin",
    "Referrer-Policy": "same-origin",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
}


class SecurityHeaders:
    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self._get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        response = self._get_response(request)
        for name, value in PAGE_HEADERS.items():
            response[name] = value
        # Static files say themselves how long they keep.
        response.headers.setdefault("Cache-Control", "no-store")
        return response
