# sni-probe in an image of some 100 MB:
#   docker build -t sni-probe . && docker run --rm sni-probe www.example.com
# Not tested: it has only been checked for form (scripts/verify/forms).

FROM swift:6.3-bookworm AS build
RUN apt-get update \
 && apt-get install -y --no-install-recommends libssl-dev=3.0.* zlib1g-dev=1:1.2.* pkg-config=1.8.* \
 && rm -rf /var/lib/apt/lists/*
WORKDIR /source
COPY . .
RUN scripts/install --stage /stage

FROM debian:bookworm-slim
RUN apt-get update \
 && apt-get install -y --no-install-recommends ca-certificates=2023* libssl3=3.0.* zlib1g=1:1.2.* \
 && rm -rf /var/lib/apt/lists/*
COPY --from=build /stage/usr/local/ /usr/local/
USER 65534:65534
ENTRYPOINT ["sni-probe"]
CMD ["--help"]
