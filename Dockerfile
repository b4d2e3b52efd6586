# hearsay in Debian 12:   docker build -t hearsay . && docker run --rm -v "$PWD:/data" hearsay train
FROM debian:bookworm-slim AS build
COPY . /source
WORKDIR /source
RUN ./cmake/package.sh

FROM debian:bookworm-slim
COPY --from=build /source/build/release/packages/hearsay_*.deb /tmp/
RUN apt-get update \
 && apt-get install -y --no-install-recommends /tmp/hearsay_*.deb \
 && rm -rf /tmp/*.deb /var/lib/apt/lists/*
WORKDIR /data
ENTRYPOINT ["hearsay"]
