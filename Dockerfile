# A server for your models, see docs/production.md:
#
#   docker build -t regard .
#   docker run --rm -p 127.0.0.1:8000:8000 -v "$PWD/model:/models/model:ro" regard
#
# Inside a container loopback is the container's own, so the server listens at 0.0.0.0 there. Who can reach it is said by
# -p: 127.0.0.1:8000:8000 lets this machine alone in, 8000:8000 everyone. Then set a key: -e REGARD_API_KEY.

FROM python:3.12-slim AS build
RUN apt-get update && apt-get install -y --no-install-recommends gcc libc6-dev
RUN python -m venv /opt/regard
ENV PATH=/opt/regard/bin:$PATH PIP_NO_CACHE_DIR=1 PIP_DISABLE_PIP_VERSION_CHECK=1
# torch for processors alone: with CUDA it is ten times as large. For GPUs build with
# --build-arg TORCH_INDEX=https://download.pytorch.org/whl/cu128 and run with --gpus all.
ARG TORCH_INDEX=https://download.pytorch.org/whl/cpu
COPY constraints.txt /build/
RUN pip install torch -c /build/constraints.txt --index-url $TORCH_INDEX
COPY pyproject.toml setup.py README.md LICENSE /build/
COPY src /build/src
RUN pip install '/build[serve]' -c /build/constraints.txt

FROM python:3.12-slim
COPY --from=build /opt/regard /opt/regard
ENV PATH=/opt/regard/bin:$PATH PYTHONUNBUFFERED=1 PYTHONDONTWRITEBYTECODE=1
USER 10001:10001
EXPOSE 8000
HEALTHCHECK --interval=30s --timeout=5s --start-period=60s --retries=3 \
  CMD ["python", "-c", "import urllib.request; urllib.request.urlopen('http://127.0.0.1:8000/health', timeout=4)"]
STOPSIGNAL SIGTERM
ENTRYPOINT ["regard", "serve", "--host", "0.0.0.0", "--port", "8000"]
CMD ["/models/model"]
