# ComfyUI as a worker's engine, with only its own nodes: a starting point for images with node packs.

# By version. To pin it: --build-arg PYTORCH_IMAGE=pytorch/pytorch:...@sha256:... (docs/operations.md, "Pin images").
ARG PYTORCH_IMAGE=pytorch/pytorch:2.8.0-cuda12.8-cudnn9-runtime
FROM ${PYTORCH_IMAGE}

ARG COMFYUI_VERSION=v0.3.64
RUN apt-get update \
  && apt-get install --yes --no-install-recommends git \
  && git clone --depth 1 --branch "${COMFYUI_VERSION}" https://github.com/comfyanonymous/ComfyUI.git /comfyui \
  && pip install --no-cache-dir --requirement /comfyui/requirements.txt \
  && apt-get purge --yes --auto-remove git \
  && rm -rf /var/lib/apt/lists/* /comfyui/.git \
  && useradd --uid 1000 --no-create-home comfyui \
  && install -d -o 1000 -g 1000 /data /data/input /data/output /data/user

WORKDIR /comfyui
ENV HOME=/data PYTHONUNBUFFERED=1
USER 1000:1000
EXPOSE 8188
HEALTHCHECK --interval=10s --timeout=5s --start-period=300s --retries=3 \
  CMD ["python", "-c", "from urllib.request import urlopen; urlopen('http://127.0.0.1:8188/system_stats', timeout=4)"]
# The arguments that the engine needs of an attached server (libs/engines/src/comfyui/README.md), and folders outside the code.
CMD ["python", "main.py", "--listen", "0.0.0.0", "--port", "8188", \
  "--disable-metadata", "--log-stdout", "--preview-method", "auto", \
  "--input-directory", "/data/input", "--output-directory", "/data/output", \
  "--temp-directory", "/data", "--user-directory", "/data/user"]
