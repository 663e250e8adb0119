from django.urls import include, path

urlpatterns = [path("", include("queues.api.urls"))]

handler400 = "queues.api.views.bad_request"
handler404 = "queues.api.views.not_found"
handler500 = "queues.api.views.internal"
