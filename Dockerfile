# clariq with its learned stages and the Ray runner. The wheels are built in a stage of their own;
# the image keeps Python, the two programs, libtorch and the default weights.
#
#   docker build -t clariq .
#   docker run --rm clariq clariq reproduce
#
# For a Ray cluster, base the image on one of Ray's that has the Python version of the driver:
#
#   docker build --build-arg BASE=rayproject/ray:2.60.0-py312 -t clariq-ray .
ARG BASE=python:3.12-slim-bookworm

FROM rust:1.89-slim-bookworm AS rust

# A program needs the glibc that it was linked with, or a later one. Ubuntu 22.04 has 2.35, as Ray's
# images do, and Debian 12 has 2.36: what is built here starts on both.
FROM ubuntu:22.04 AS wheels
RUN apt-get update \
    && apt-get install -y --no-install-recommends ca-certificates g++ python3-pip python3-venv \
    && rm -rf /var/lib/apt/lists/*
# Rust's own programs need no more than glibc 2.17, so they run here, too.
COPY --from=rust /usr/local/rustup /usr/local/rustup
COPY --from=rust /usr/local/cargo /usr/local/cargo
ENV RUSTUP_HOME=/usr/local/rustup CARGO_HOME=/usr/local/cargo PATH=/usr/local/cargo/bin:$PATH
WORKDIR /clariq
COPY . .
RUN scripts/build-wheels /wheels

FROM ${BASE}
USER root
# The files themselves: a registry may have another package of that name.
RUN --mount=type=bind,from=wheels,source=/wheels,target=/wheels \
    pip install --no-cache-dir "$(echo /wheels/clariq-*.whl)[ray,s3]" /wheels/clariq_learned-*.whl
ENV CLARIQ_CACHE=/var/cache/clariq
# Everybody may write there, whatever user a container has: indexes, vectors and trained models are
# kept in the cache. The set-up needs its newer pip and its C compiler only once. It has the home of
# root, because Ray's images name that of `ray`, where files of root's would be in the way.
RUN HOME=/root PIP_NO_CACHE_DIR=1 clariq setup \
    && rm -rf "$CLARIQ_CACHE/zig" "$CLARIQ_CACHE/pip" /root/.cache \
    && chmod -R a+rwX "$CLARIQ_CACHE"
# In Ray's images, 1000 is the user `ray`; other bases get a user of that number. It is a number
# because Kubernetes cannot tell from a name that a container does not run as root.
RUN getent passwd 1000 || useradd --create-home --uid 1000 clariq
# Runs are written below the current folder.
RUN install -d -m 1777 /work
WORKDIR /work
USER 1000
CMD ["clariq", "--help"]
