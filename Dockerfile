# The page of harness, `harness serve`: docs/web.md#in-a-container says how to run it.
FROM python:3.13-slim AS build
WORKDIR /source
COPY requirements.lock pyproject.toml README.md LICENSE NOTICE ./
COPY harness harness
COPY evals evals
COPY servers servers
# The versions of the lock file; its hashes would also ask for one of this very source.
RUN sed -n 's/^\([a-z0-9][^ ]*==[^ ]*\).*/\1/p' requirements.lock > pins.txt \
    && python -m venv /opt/harness \
    && PIP_CONSTRAINT=pins.txt /opt/harness/bin/python -m pip install --no-cache-dir '.[bfcl,otel,web]'

FROM python:3.13-slim
COPY --from=build /opt/harness /opt/harness
# The home is nobody's to write: what stands in the project's folder is never the user's own configuration.
RUN groupadd --gid 10001 harness \
    && useradd --uid 10001 --gid harness --no-create-home --home-dir /nonexistent --shell /usr/sbin/nologin harness \
    && install --directory --owner=harness --group=harness /work
ENV PATH=/opt/harness/bin:$PATH PYTHONUNBUFFERED=1 PYTHONDONTWRITEBYTECODE=1
USER 10001:10001
# The project: configuration, suites, and the runs below .harness. All else may be read-only.
WORKDIR /work
VOLUME /work
EXPOSE 8000
HEALTHCHECK --interval=30s --timeout=5s \
    CMD ["python", "-c", "import urllib.request; urllib.request.urlopen('http://127.0.0.1:8000/health', timeout=3)"]
ENTRYPOINT ["harness", "serve"]
# A container's loopback is its own. On every other address the page asks for a token: $HARNESS_SERVE_TOKEN, or a printed one.
CMD ["--host", "0.0.0.0"]
