from collections.abc import Iterator

import pytest
from django.test import Client, override_settings

from forq import ui_settings


@pytest.fixture
def browser() -> Iterator[Client]:
    names = ("ROOT_URLCONF", "MIDDLEWARE", "WHITENOISE_USE_FINDERS")
    with override_settings(**{name: getattr(ui_settings, name) for name in names}):
        yield Client()


def test_the_page_names_the_product_and_the_api(browser: Client) -> None:
    response = browser.get("/")

    assert response.status_code == 200
    page = response.content.decode()
    assert "<title>Forq</title>" in page
    assert "http://localhost:8080" in page
    assert "no admin pages yet" in page


def test_the_page_says_its_parts_come_from_here_only(browser: Client) -> None:
    headers = browser.get("/").headers

    assert "default-src 'self'" in headers["Content-Security-Policy"]
    assert "frame-ancestors 'none'" in headers["Content-Security-Policy"]
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert headers["Referrer-Policy"] == "same-origin"
    assert headers["Cache-Control"] == "no-store"


def test_the_pages_style_and_icon_are_served(browser: Client) -> None:
    for name, kind in (("forq.css", "text/css"), ("icon.svg", "image/svg+xml")):
        response = browser.get(f"/static/adminui/{name}")
        assert response.status_code == 200
        assert response.getvalue()
        response.close()
        assert response.headers["Content-Type"].startswith(kind)
        assert response.headers["X-Content-Type-Options"] == "nosniff"
        assert "no-store" not in response.headers["Cache-Control"]


def test_an_unknown_page_shows_nothing_of_the_inside(browser: Client) -> None:
    response = browser.get("/no/such/page")

    assert response.status_code == 404
    assert "Traceback" not in response.content.decode()
    assert "Content-Security-Policy" in response.headers


def test_the_page_is_for_reading_only(browser: Client) -> None:
    assert browser.delete("/").status_code == 405
