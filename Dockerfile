FROM python:3.11-slim AS build

# gunicorn's fast parser comes as source. Of this stage nothing but the result is kept, so the
# compiler may be whichever one the base image's release has.
# hadolint ignore=DL3008
RUN apt-get update \
    && apt-get install --yes --no-install-recommends gcc libc6-dev \
    && rm -rf /var/lib/apt/lists/*
RUN python -m venv /opt/forq
ENV PATH=/opt/forq/bin:$PATH \
    PIP_DISABLE_PIP_VERSION_CHECK=1 \
    PIP_NO_CACHE_DIR=1

WORKDIR /src
COPY requirements ./requirements
RUN pip install --require-hashes --no-build-isolation -r requirements/server.lock \
    && pip install --require-hashes --no-build-isolation -r requirements/fast.lock
COPY . .
RUN pip install --no-deps --no-build-isolation .


FROM python:3.11-slim

RUN useradd --system --uid 10001 --user-group --no-create-home --home-dir /data forq \
    && install --directory --owner=forq --group=forq --mode=700 /data
COPY --from=build /opt/forq /opt/forq

ENV PATH=/opt/forq/bin:$PATH \
    PYTHONUNBUFFERED=1 \
    FORQ_DATA_DIR=/data \
    FORQ_API_ADDR=0.0.0.0:8080 \
    FORQ_UI_ADDR=0.0.0.0:8081

# By number, so that a cluster can tell it is not root.
USER 10001:10001
WORKDIR /data
VOLUME ["/data"]
EXPOSE 8080 8081
STOPSIGNAL SIGTERM

HEALTHCHECK --interval=10s --timeout=3s --start-period=30s --retries=3 \
    CMD ["python", "-c", "from urllib.request import urlopen; urlopen('http://127.0.0.1:8080/healthcheck', timeout=2)"]

ENTRYPOINT ["forq"]
CMD ["serve"]
