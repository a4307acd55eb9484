# The lexical command, and the learned one where libtorch is wanted:
#   docker build -t clariq .
#   docker build -t clariq-learned --build-arg LEARNED=1 .
FROM rust:1.88-bookworm AS build
ARG LEARNED=
RUN apt-get update && apt-get install -y --no-install-recommends python3 python3-pip \
    && rm -rf /var/lib/apt/lists/*
WORKDIR /src
COPY . .
ENV CLARIQ_CACHE=/opt/clariq
RUN mkdir -p /opt/clariq \
    && if [ -n "$LEARNED" ]; then \
         scripts/setup && cargo build --release --locked --package clariq --features bert; \
       else cargo build --release --locked --package clariq; fi

FROM debian:bookworm-slim
RUN apt-get update && apt-get install -y --no-install-recommends ca-certificates libgomp1 libstdc++6 \
    && rm -rf /var/lib/apt/lists/*
COPY --from=build /opt/clariq /opt/clariq
COPY --from=build /src/target/release/clariq /usr/local/bin/clariq
ENV CLARIQ_CACHE=/opt/clariq
ENTRYPOINT ["clariq"]
