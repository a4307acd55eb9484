# clariq with its learned stages and the Ray runner. The wheels are built first; what is kept is
# Python, the two programs, libtorch and the default weights.
#
#   docker build -t clariq .
#   docker run --rm clariq clariq reproduce
#
# As the image of a Ray cluster, let it be based on one of Ray's, with the Python of the driver:
#
#   docker build --build-arg BASE=rayproject/ray:2.60.0-py312 -t clariq-ray .
ARG BASE=python:3.12-slim-bookworm

FROM rust:1.89-bullseye AS wheels
RUN apt-get update \
    && apt-get install -y --no-install-recommends python3-pip python3-venv \
    && rm -rf /var/lib/apt/lists/*
WORKDIR /clariq
COPY . .
RUN scripts/build-wheels /wheels

FROM ${BASE}
USER root
COPY --from=wheels /wheels /wheels
# The files themselves: a registry may have another package of that name.
RUN pip install --no-cache-dir "$(echo /wheels/clariq-*.whl)[ray,s3]" /wheels/clariq_learned-*.whl \
    && rm -r /wheels
ENV CLARIQ_CACHE=/var/cache/clariq
# Everybody may write there: indexes, vectors and trained models are kept in the cache. The C
# compiler that the set-up fetches where there is none is needed once.
RUN clariq setup && rm -rf "$CLARIQ_CACHE/zig" "$CLARIQ_CACHE/pip" && chmod -R a+rwX "$CLARIQ_CACHE"
CMD ["clariq", "--help"]
